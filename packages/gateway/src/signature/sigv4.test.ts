import { canonicalUri, deriveSigningKey } from '@svc/encoding';
import { describe, expect, it } from 'vitest';
import { s3RequestOf } from '../../test/s3-request-of.ts';
import type { S3Error } from '../errors/s3-error.ts';
import type { S3Request } from '../request/s3-request.ts';
import {
  checkSignedHeaders,
  checkV4Time,
  expectedSignature,
  readHeaderSignature,
  readQuerySignature,
  verifySignature,
} from './sigv4.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const key = deriveSigningKey(secret, { date: '20130524', region: 'us-east-1', service: 's3' });
const credential = 'Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
const emptySha = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const signedAt = Date.UTC(2013, 4, 24);
const minute = 60_000;

function signed(
  method: string,
  target: string,
  headers: Record<string, string>,
  signature = '0'.repeat(64),
): S3Request {
  const names = Object.keys(headers)
    .map((name) => name.toLowerCase())
    .sort();
  return s3RequestOf(method, target, {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 ${credential},SignedHeaders=${names.join(';')},Signature=${signature}`,
  });
}

function signatureOf(request: S3Request): string {
  return expectedSignature(request, readHeaderSignature(request), key);
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return `${(error as S3Error).status} ${(error as S3Error).code}`;
  }
  return 'ok';
}

const example = { host: 'examplebucket.s3.amazonaws.com', 'x-amz-date': '20130524T000000Z' };

describe('SigV4 published vectors', () => {
  it('signs a GET with a range', () => {
    const request = signed('GET', '/test.txt', {
      ...example,
      range: 'bytes=0-9',
      'x-amz-content-sha256': emptySha,
    });
    expect(signatureOf(request)).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
  });

  it('signs list parameters and a sub-resource', () => {
    const list = signed('GET', '/?max-keys=2&prefix=J', { ...example, 'x-amz-content-sha256': emptySha });
    expect(signatureOf(list)).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7');
    const lifecycle = signed('GET', '/?lifecycle', { ...example, 'x-amz-content-sha256': emptySha });
    expect(signatureOf(lifecycle)).toBe('fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543');
  });

  it('signs a PUT whose key holds an escape', () => {
    const request = signed('PUT', '/test%24file.text', {
      ...example,
      date: 'Fri, 24 May 2013 00:00:00 GMT',
      'x-amz-storage-class': 'REDUCED_REDUNDANCY',
      'x-amz-content-sha256': '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    });
    expect(signatureOf(request)).toBe('98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd');
  });

  it.each(['/repo/main/%E8%92%99A%20~%2A%27%28%29%21.jpg', "/repo/main/%E8%92%99A%20~*'()!.jpg"])(
    'gives one canonical path to %s',
    (path) => {
      expect(canonicalUri(path)).toBe('/repo/main/%E8%92%99A%20~%2A%27%28%29%21.jpg');
      const request = signed('GET', path, {
        host: 's3.svc.localhost:8000',
        'x-amz-date': '20130524T000000Z',
        'x-amz-content-sha256': emptySha,
      });
      expect(signatureOf(request)).toBe('687cfd4f7106c40d011fcbb068bceca475a82148f630b0f9c3e34fe02e43ff4e');
    },
  );

  it('signs a request with an unsigned trailer', () => {
    const request = signed('PUT', '/repo/main/a%20b%2Bc.txt', {
      'content-encoding': 'aws-chunked',
      host: 's3.svc.localhost:8000',
      'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-date': '20130524T000000Z',
      'x-amz-decoded-content-length': '11',
      'x-amz-sdk-checksum-algorithm': 'CRC32',
      'x-amz-trailer': 'x-amz-checksum-crc32',
    });
    expect(signatureOf(request)).toBe('a2e1faa9a7c73d719a640caadbed8da4426ad792021fd00d65dec96e74cb7d8b');
  });
});

describe('a presigned URL', () => {
  const presigned = (
    change: Record<string, string | undefined> = {},
    headers: Record<string, string> = {},
  ) => {
    const parameters: Record<string, string | undefined> = {
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': 'AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request',
      'X-Amz-Date': '20130524T000000Z',
      'X-Amz-Expires': '86400',
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
      ...change,
    };
    const query = Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${value}`);
    return s3RequestOf('GET', `/test.txt?${query.join('&')}`, {
      host: 'examplebucket.s3.amazonaws.com',
      ...headers,
    });
  };

  it('verifies, and lives exactly as long as it says', () => {
    const request = presigned();
    const signature = readQuerySignature(request);
    expect(verifySignature(request, signature, key).valid).toBe(true);
    expect(codeOf(() => checkV4Time(signature, signedAt + 16 * minute))).toBe('ok');
    expect(codeOf(() => checkV4Time(signature, signedAt + 86_399_000))).toBe('ok');
    expect(() => checkV4Time(signature, signedAt + 86_401_000)).toThrow('Request has expired');
    expect(() => checkV4Time(signature, signedAt - 16 * minute)).toThrow('Request is not valid yet');
  });

  it.each([
    [{ 'X-Amz-Expires': '604801' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Expires': '-1' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Expires': 'abc' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Algorithm': 'AWS4-HMAC-SHA512' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Algorithm': 'aws4-hmac-sha256' }, 'ok'],
    [{ 'X-Amz-Credential': '' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Credential': 'a%2Fb' }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Date': undefined }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-SignedHeaders': undefined }, '400 AuthorizationQueryParametersError'],
    [{ 'X-Amz-Date': '2013' }, '400 AuthorizationQueryParametersError'],
  ] as const)('with %j is %s', (change, code) => {
    expect(codeOf(() => readQuerySignature(presigned(change)))).toBe(code);
  });

  it('takes the payload hash from the query, then from a signed header', () => {
    const hash = 'a'.repeat(64);
    expect(readQuerySignature(presigned({ 'X-Amz-Content-Sha256': hash })).payloadHash).toBe(hash);
    const header = { 'x-amz-content-sha256': hash };
    expect(readQuerySignature(presigned({}, header)).payloadHash).toBe('UNSIGNED-PAYLOAD');
    expect(
      readQuerySignature(presigned({ 'X-Amz-SignedHeaders': 'host%3Bx-amz-content-sha256' }, header))
        .payloadHash,
    ).toBe(hash);
  });

  it('refuses headers the signature does not cover', () => {
    const request = presigned({}, { 'x-amz-copy-source': 'other/main/secret', 'x-amz-cf-id': '1' });
    let error: S3Error | undefined;
    try {
      checkSignedHeaders(request, readQuerySignature(request));
    } catch (thrown) {
      error = thrown as S3Error;
    }
    expect(error?.code).toBe('AccessDenied');
    expect(error?.elements).toEqual([['HeadersNotSigned', 'x-amz-copy-source']]);
  });
});

describe('the Authorization header', () => {
  const headers = { ...example, 'x-amz-content-sha256': emptySha };
  const names = 'host;x-amz-content-sha256;x-amz-date';
  const read = (authorization: string, extra: Record<string, string> = headers) =>
    readHeaderSignature(s3RequestOf('GET', '/', { ...extra, authorization }));

  it.each([
    `AWS4-HMAC-SHA256 ${credential},SignedHeaders=${names},Signature=${'0'.repeat(64)}`,
    `AWS4-HMAC-SHA256    ${credential} ,   SignedHeaders=${names} , Signature=${'0'.repeat(64)}`,
    `AWS4-HMAC-SHA256 Signature=${'0'.repeat(64)}, SignedHeaders=${names}, ${credential}`,
  ])('is read in any order and spacing: %s', (authorization) => {
    expect(read(authorization)).toMatchObject({
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      scope: { date: '20130524', region: 'us-east-1', service: 's3' },
      signedHeaders: names,
      time: signedAt,
    });
  });

  it.each([
    'AWS4-HMAC-SHA256',
    'AWS4-HMAC-SHA256 nonsense',
    `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=XYZ`,
    `AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=${names}, Signature=${'0'.repeat(64)}`,
    `AWS4-HMAC-SHA256 ${credential}, Signature=${'0'.repeat(64)}`,
  ])('is refused when it cannot be parsed: %s', (authorization) => {
    expect(codeOf(() => read(authorization))).toBe('400 AuthorizationHeaderMalformed');
  });

  it('needs a date of the day the credential names', () => {
    const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=${'0'.repeat(64)}`;
    expect(codeOf(() => read(authorization, { host: 'x' }))).toBe('403 AccessDenied');
    expect(codeOf(() => read(authorization, { host: 'x', 'x-amz-date': 'noon' }))).toBe('403 AccessDenied');
    expect(codeOf(() => read(authorization, { host: 'x', 'x-amz-date': '20130525T000000Z' }))).toBe(
      '400 AuthorizationHeaderMalformed',
    );
    const dated = read(authorization, { host: 'x', date: 'Fri, 24 May 2013 00:00:00 GMT' });
    expect(dated.dateTime).toBe('20130524T000000Z');
  });

  it('allows 15 minutes of skew', () => {
    const signature = readHeaderSignature(signed('GET', '/', headers));
    expect(codeOf(() => checkV4Time(signature, signedAt + 15 * minute))).toBe('ok');
    expect(codeOf(() => checkV4Time(signature, signedAt + 16 * minute))).toBe('403 RequestTimeTooSkewed');
    expect(codeOf(() => checkV4Time(signature, signedAt - 15 * minute))).toBe('ok');
    expect(codeOf(() => checkV4Time(signature, signedAt - 16 * minute))).toBe('403 RequestTimeTooSkewed');
  });

  it('joins repeated headers and all values of a repeated query name', () => {
    const once = signed('GET', '/?a=2&a=1', { ...headers, 'x-amz-meta-k': 'v1,v2' });
    const request = s3RequestOf('GET', '/?a=2&a=1', [
      ...Object.entries(headers).flat(),
      'X-Amz-Meta-K',
      ' v1 ',
      'x-amz-meta-k',
      'v2',
      'authorization',
      once.headers.get('authorization') ?? '',
    ]);
    expect(signatureOf(request)).toBe(signatureOf(once));
    expect(signatureOf(signed('GET', '/?a=2', { ...headers, 'x-amz-meta-k': 'v1,v2' }))).not.toBe(
      signatureOf(once),
    );
  });

  it('accepts the forwarded host when a proxy replaced the signed one', () => {
    const original = signed('GET', '/x', headers);
    const signature = signatureOf(original);
    const behindProxy = (forwarded: Record<string, string>) => {
      const request = s3RequestOf('GET', '/x', {
        ...headers,
        host: 'internal:8000',
        ...forwarded,
        authorization: `AWS4-HMAC-SHA256 ${credential},SignedHeaders=${names},Signature=${signature}`,
      });
      return verifySignature(request, readHeaderSignature(request), key);
    };
    expect(behindProxy({})).toEqual({ valid: false, forwardedHost: undefined });
    expect(behindProxy({ 'x-forwarded-host': `${example.host}, other` })).toEqual({
      valid: true,
      forwardedHost: example.host,
    });
  });
});

describe('what headers say of a presigned URL', () => {
  const target = (date: string, signedHeaders: string): string =>
    '/r/main/x?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
    '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request' +
    `&X-Amz-Date=${date}&X-Amz-Expires=60&X-Amz-SignedHeaders=${signedHeaders}&X-Amz-Signature=00`;
  const read = (url: string, headers: Record<string, string>) =>
    readQuerySignature(s3RequestOf('GET', url, { host: 'a', ...headers }));

  it('is read for each request when it is signed', () => {
    const url = target('20130524T000000Z', 'host;x-amz-content-sha256');
    for (const hash of ['1'.repeat(64), '2'.repeat(64)])
      expect(read(url, { 'x-amz-content-sha256': hash }).payloadHash).toBe(hash);
  });

  it('is read for each request when the date is theirs', () => {
    const url = target('', 'host');
    for (const time of ['20130524T000001Z', '20130524T000002Z'])
      expect(read(url, { 'x-amz-date': time }).dateTime).toBe(time);
  });

  it('does not matter otherwise', () => {
    const url = target('20130524T000000Z', 'host');
    const first = read(url, {});
    expect(first).toMatchObject({ dateTime: '20130524T000000Z', payloadHash: 'UNSIGNED-PAYLOAD' });
    const headers = { 'x-amz-date': '20130524T000005Z', 'x-amz-content-sha256': '3'.repeat(64) };
    expect(read(url, headers)).toEqual(first);
  });
});
