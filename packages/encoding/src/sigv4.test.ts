import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  canonicalQuery,
  canonicalUri,
  ChunkSigner,
  emptySha256,
  encodeQuery,
  presignQuery,
  sigV4DateTime,
  signCanonicalRequest,
  signRequest,
  SigningKeyCache,
  type SigningContext,
} from './sigv4.ts';

const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const context: SigningContext = {
  credentials,
  region: 'us-east-1',
  service: 's3',
  now: new Date('2013-05-24T00:00:00Z'),
  keys: new SigningKeyCache(),
};
const scope = { date: '20130524', region: 'us-east-1', service: 's3' };
const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

function signatureOf(
  method: string,
  path: string,
  query: string,
  headers: Record<string, string>,
  payloadHash: string,
): string {
  const signed = signRequest({ method, path, query, headers, payloadHash }, context);
  return /Signature=([0-9a-f]{64})$/.exec(signed.headers['authorization'] ?? '')?.[1] ?? '';
}

describe('header signatures', () => {
  const host = 'examplebucket.s3.amazonaws.com';

  it('signs the published examples', () => {
    expect(signatureOf('GET', '/test.txt', '', { host, range: 'bytes=0-9' }, emptySha256)).toBe(
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    const query = encodeQuery([
      ['prefix', 'J'],
      ['max-keys', '2'],
    ]);
    expect(signatureOf('GET', '/', query, { host }, emptySha256)).toBe(
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
    expect(signatureOf('GET', '/', encodeQuery([['lifecycle', '']]), { host }, emptySha256)).toBe(
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    );
    expect(
      signatureOf(
        'PUT',
        '/test%24file.text',
        '',
        { host, date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        sha256('Welcome to Amazon S3.'),
      ),
    ).toBe('98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd');
  });

  it('signs odd keys alike whether or not the client encoded them', () => {
    const encoded = '/repo/main/%E8%92%99A%20~%2A%27%28%29%21.jpg';
    const half = "/repo/main/%E8%92%99A%20~*'()!.jpg";
    expect(canonicalUri(half)).toBe(encoded);
    for (const path of [encoded, half]) {
      expect(signatureOf('GET', path, '', { host: 's3.svc.localhost:8000' }, emptySha256)).toBe(
        '687cfd4f7106c40d011fcbb068bceca475a82148f630b0f9c3e34fe02e43ff4e',
      );
    }
  });

  it('signs an unsigned-trailer request', () => {
    expect(
      signatureOf(
        'PUT',
        '/repo/main/a%20b%2Bc.txt',
        '',
        {
          host: 's3.svc.localhost:8000',
          'content-encoding': 'aws-chunked',
          'x-amz-decoded-content-length': '11',
          'x-amz-sdk-checksum-algorithm': 'CRC32',
          'x-amz-trailer': 'x-amz-checksum-crc32',
        },
        'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      ),
    ).toBe('a2e1faa9a7c73d719a640caadbed8da4426ad792021fd00d65dec96e74cb7d8b');
  });

  it('sends the session token signed', () => {
    const signed = signRequest(
      { method: 'GET', path: '/', query: '', headers: { host }, payloadHash: emptySha256 },
      { ...context, credentials: { ...credentials, sessionToken: 'token' } },
    );
    expect(signed.headers['x-amz-security-token']).toBe('token');
    expect(signed.headers['authorization']).toContain(
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token',
    );
  });
});

describe('streaming signatures', () => {
  const chunks = [Buffer.alloc(65536, 'a'), Buffer.alloc(1024, 'a'), Buffer.alloc(0)];
  const headers = {
    host: 's3.amazonaws.com',
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '66560',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  };

  it('chains chunk signatures from the request', () => {
    const { headers: signed, chunkSigner } = signRequest(
      {
        method: 'PUT',
        path: '/examplebucket/chunkObject.txt',
        query: '',
        headers: { ...headers, 'content-length': '66824' },
        payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
      },
      context,
    );
    expect(signed['authorization']).toMatch(
      /4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9$/,
    );
    expect(chunks.map((chunk) => chunkSigner.chunk(sha256(chunk)))).toEqual([
      'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
      '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
      'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
    ]);
  });

  it('signs the trailer after the last chunk', () => {
    const { headers: signed, chunkSigner } = signRequest(
      {
        method: 'PUT',
        path: '/examplebucket/chunkObject.txt',
        query: '',
        headers: { ...headers, 'x-amz-trailer': 'x-amz-checksum-crc32c' },
        payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
      },
      context,
    );
    expect(signed['authorization']).toMatch(
      /106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e$/,
    );
    expect(chunks.map((chunk) => chunkSigner.chunk(sha256(chunk)))).toEqual([
      'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
      '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
      '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
    ]);
    expect(chunkSigner.trailer([['x-amz-checksum-crc32c', 'sOO8/Q==']])).toBe(
      'd81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
    );
  });

  it('differs when one byte of a chunk differs', () => {
    const key = context.keys.get(credentials.secretAccessKey, scope);
    const sign = (data: string): string =>
      new ChunkSigner(key, '20130524T000000Z', scope, emptySha256).chunk(sha256(data));
    expect(sign('a')).not.toBe(sign('b'));
  });
});

describe('pre-signed queries', () => {
  it('signs the published example', () => {
    const query = presignQuery(
      {
        method: 'GET',
        host: 'examplebucket.s3.amazonaws.com',
        path: '/test.txt',
        query: [],
        expiresSeconds: 86400,
      },
      context,
    );
    expect(query).toMatch(
      /X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/,
    );
    // The same signature by the verifier's way: from the raw query.
    const key = context.keys.get(credentials.secretAccessKey, scope);
    expect(
      signCanonicalRequest(key, '20130524T000000Z', scope, {
        method: 'GET',
        uri: canonicalUri('/test.txt'),
        query: canonicalQuery(query, 'X-Amz-Signature'),
        headers: [['host', 'examplebucket.s3.amazonaws.com']],
        payloadHash: 'UNSIGNED-PAYLOAD',
      }),
    ).toBe('aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404');
  });
});

describe('canonical forms', () => {
  it('keeps paths as they are but for encoding', () => {
    expect(canonicalUri('')).toBe('/');
    expect(canonicalUri('/a/../b//c/.')).toBe('/a/../b//c/.');
    expect(canonicalUri('/a+b')).toBe('/a%2Bb');
    expect(canonicalUri('/%zz')).toBe('/%25zz');
    expect(canonicalUri('/%e2%82%ac')).toBe('/%E2%82%AC');
    // A raw UTF-8 path arrives as latin1 characters.
    expect(canonicalUri(Buffer.from('/€').toString('latin1'))).toBe('/%E2%82%AC');
  });

  it('sorts and re-encodes every query pair', () => {
    expect(canonicalQuery('b=2&a&b=1&c=x+y*/z&')).toBe('a=&b=1&b=2&c=x%20y%2A%2Fz');
    expect(canonicalQuery('a=1;b=2')).toBe('a=1%3Bb%3D2');
    expect(canonicalQuery('x-id=PutObject&X-Amz-Signature=1', 'X-Amz-Signature')).toBe('x-id=PutObject');
    expect(
      encodeQuery([
        ['b', 'ä'],
        ['a', '/'],
      ]),
    ).toBe('a=%2F&b=%C3%A4');
  });

  it('writes the basic date form', () => {
    expect(sigV4DateTime(new Date('2026-11-15T01:02:03.999Z'))).toBe('20261115T010203Z');
  });
});
