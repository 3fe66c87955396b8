import { createHmac, hash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, composeGateway, domain, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
let clock = Date.now();

beforeAll(async () => {
  gateway = await composeGateway({ gateway: { clock: () => clock } });
  await gateway.createRepository('repo');
  await gateway.createRepository('other');
  s3 = gateway.client();
  await s3.put('/repo/main/x', 'content');
  await s3.put('/other/main/secret', 'secret');
});
afterAll(() => gateway.close());

const now = () => new Date(clock);
const minutes = (count: number) => new Date(clock + count * 60_000);
const hello = Buffer.from('hello world');

describe('header signatures', () => {
  it('are accepted, and refused with another secret or an unknown key', async () => {
    expect((await s3.get('/repo/main/x', { now: now() })).body.toString()).toBe('content');
    const wrong = gateway.client({ ...adminKey, secretAccessKey: 'wrong' });
    expect(await wrong.get('/repo/main/x')).toMatchObject({ status: 403, code: 'SignatureDoesNotMatch' });
    const unknown = gateway.client({ ...adminKey, accessKeyId: 'NOBODY' });
    expect(await unknown.get('/repo/main/x')).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
  });

  it('are not looked for in a query that no client sends', async () => {
    const query = 'a=b&'.repeat(20_000);
    expect(await s3.get('/repo', { query, now: now() })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    });
    const unsigned = gateway.client({ ...adminKey, accessKeyId: 'NOBODY' });
    expect(await unsigned.get('/repo', { query })).toMatchObject({ status: 400, code: 'InvalidRequest' });
  });

  it('may be 15 minutes old, not more, and of the credential date', async () => {
    expect((await s3.get('/repo/main/x', { now: new Date(clock - 899_000) })).status).toBe(200);
    expect(await s3.get('/repo/main/x', { now: minutes(-16) })).toMatchObject({
      status: 403,
      code: 'RequestTimeTooSkewed',
    });
    const ahead = await s3.get('/repo/main/x', { now: minutes(16) });
    expect(ahead).toMatchObject({ status: 403, code: 'RequestTimeTooSkewed' });
    expect(ahead.text).toContain(`<ServerTime>${new Date(clock).toISOString()}</ServerTime>`);
    expect(ahead.text).toContain('<MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>');
  });

  it('may name any region', async () => {
    expect((await s3.get('/repo/main/x', { region: 'eu-west-9' })).status).toBe(200);
    const location = await s3.get('/repo', { query: 'location', region: 'eu-west-9' });
    expect(location.text).toContain(
      '<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/"></Location',
    );
  });

  it('must cover every x-amz header', async () => {
    await s3.put('/repo/main/target', 'before');
    for (const reply of [
      await s3.put('/repo/main/target', '', {
        unsignedHeaders: { 'x-amz-copy-source': 'other/main/secret' },
      }),
      await s3.raw('PUT', s3.presign('PUT', '/repo/main/target'), {
        host: `127.0.0.1:${gateway.port}`,
        'x-amz-copy-source': 'other/main/secret',
      }),
    ]) {
      expect(reply).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(reply.xml('HeadersNotSigned')).toBe('x-amz-copy-source');
    }
    expect((await s3.get('/repo/main/target')).text).toBe('before');
  });

  it('follow the forwarded host of a proxy', async () => {
    const path = '/main/x';
    const call = { host: `repo.${domain}:9999` };
    const behind = { ...call, unsignedHeaders: { host: 'internal:8000' } };
    expect((await s3.get(path, behind)).code).toBe('SignatureDoesNotMatch');
    const told = await s3.get(path, {
      ...call,
      unsignedHeaders: { host: 'internal:8000', 'x-forwarded-host': `repo.${domain}:9999` },
    });
    expect(told.text).toBe('content');
  });

  it('are malformed or missing in ways that have names', async () => {
    const bare = (headers: Record<string, string>, target = '/repo/main/x') =>
      s3.raw('GET', target, { host: domain, ...headers });
    expect(await bare({})).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect(await bare({ authorization: 'AWS4-HMAC-SHA256 nonsense' })).toMatchObject({
      status: 400,
      code: 'AuthorizationHeaderMalformed',
    });
    expect(await bare({ authorization: 'AWS4-ECDSA-P256-SHA256 x' })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    });
    expect(await bare({ authorization: 'AWS nonsense' })).toMatchObject({
      status: 400,
      code: 'MissingFields',
    });
    expect(await bare({ authorization: 'Negotiate x' })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
    expect(await bare({}, '/repo/main/x?X-Amz-Credential=x')).toMatchObject({
      status: 400,
      code: 'AuthorizationQueryParametersError',
    });
  });
});

describe('the old query form of SigV2', () => {
  const signed = (path: string): string => {
    const query =
      `AWSAccessKeyId=${adminKey.accessKeyId}&SignatureMethod=HmacSHA256&SignatureVersion=2` +
      `&Timestamp=${encodeURIComponent(new Date(clock).toISOString())}`;
    const text = `POST\n127.0.0.1:${gateway.port}\n${path}\n${query}`;
    const signature = createHmac('sha256', adminKey.secretAccessKey).update(text).digest('base64');
    return `${path}?${query}&Signature=${encodeURIComponent(signature)}`;
  };

  it('reads, and writes nothing: it covers neither the method nor a header', async () => {
    await s3.put('/repo/main/x', 'content', { now: now() });
    const host = { host: `127.0.0.1:${gateway.port}` };
    const url = signed('/repo/main/x');
    expect((await s3.raw('GET', url, host)).text).toBe('content');
    expect((await s3.raw('HEAD', url, host)).status).toBe(200);
    for (const reply of [
      await s3.raw('DELETE', url, host),
      await s3.raw('PUT', url, host, Buffer.from('other')),
      await s3.raw('PUT', url, { ...host, 'x-amz-copy-source': 'other/main/secret' }),
      await s3.raw('POST', `${signed('/repo')}&delete`, host, Buffer.from('<Delete/>')),
    ])
      expect([reply.status, reply.code]).toEqual([403, 'AccessDenied']);
    expect((await s3.get('/repo/main/x', { now: now() })).text).toBe('content');
  });
});

describe('identities without a signature', () => {
  const basic = (secret: string) =>
    `Basic ${Buffer.from(`${adminKey.accessKeyId}:${secret}`).toString('base64')}`;

  it('are taken from Basic and Bearer headers on a gateway host', async () => {
    const reply = await s3.raw('GET', '/repo/main/x', {
      host: domain,
      authorization: basic(adminKey.secretAccessKey),
    });
    expect(reply.text).toBe('content');
    const { token } = await gateway.auth.login({
      username: adminKey.accessKeyId,
      password: adminKey.secretAccessKey,
      client: { ip: '127.0.0.1', secure: false },
    });
    expect(
      (await s3.raw('GET', '/repo/main/x', { host: domain, authorization: `Bearer ${token}` })).text,
    ).toBe('content');
    const cookie = { host: domain, cookie: `access_token=${token}`, authorization: 'AWS4-HMAC-SHA256 dummy' };
    expect((await s3.raw('GET', '/repo/main/x', cookie)).text).toBe('content');
  });

  it('answer 401 in JSON when the header is wrong, but ignore a bad cookie beside a signature', async () => {
    const refused = await s3.raw('GET', '/repo/main/x', { host: domain, authorization: basic('wrong') });
    expect(refused.status).toBe(401);
    expect(JSON.parse(refused.text)).toEqual({ message: 'error authenticating request' });
    const cookie = 'access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.AAAA';
    expect((await s3.get('/repo/main/x', { unsignedHeaders: { cookie } })).text).toBe('content');
  });
});

describe('presigned URLs', () => {
  const host = () => ({ host: `127.0.0.1:${gateway.port}` });

  it('work until they expire', async () => {
    const url = s3.presign('GET', '/repo/main/x', { expires: 3600, now: now() });
    const before = clock;
    try {
      clock = before + 16 * 60_000;
      expect((await s3.raw('GET', url, host())).text).toBe('content');
      clock = before + 3_601_000;
      const late = await s3.raw('GET', url, host());
      expect(late).toMatchObject({ status: 403, code: 'AccessDenied' });
      expect(late.xml('Message')).toBe('Request has expired');
      clock = before - 16 * 60_000;
      expect((await s3.raw('GET', url, host())).xml('Message')).toBe('Request is not valid yet');
    } finally {
      clock = before;
    }
  });

  it('that were right once are right only as they were', async () => {
    const actor = { username: 'admin' };
    const { auth } = gateway;
    await auth.users.create({ username: 'reader' }, actor);
    await auth.policies.create(
      { id: 'Reader', statement: [{ effect: 'allow', action: ['fs:ReadObject'], resource: '*' }] },
      actor,
    );
    await auth.users.attachPolicy('reader', 'Reader', actor);
    const key = await auth.credentials.create('reader', actor);
    const url = gateway.client(key).presign('GET', '/repo/main/x');
    for (let time = 0; time < 3; time += 1) expect((await s3.raw('GET', url, host())).text).toBe('content');
    const mismatch = { status: 403, code: 'SignatureDoesNotMatch' };
    expect(await s3.raw('DELETE', url, host())).toMatchObject(mismatch);
    expect(await s3.raw('GET', url.replace('main/x', 'main/y'), host())).toMatchObject(mismatch);
    expect(await s3.raw('GET', `${url}&response-content-type=text%2Fhtml`, host())).toMatchObject(mismatch);
    expect(await s3.raw('GET', url, { host: `localhost:${gateway.port}` })).toMatchObject(mismatch);
    const last = url.at(-1) === '0' ? '1' : '0';
    expect(await s3.raw('GET', url.slice(0, -1) + last, host())).toMatchObject(mismatch);
    const covered = await s3.raw('GET', url, { ...host(), 'x-amz-copy-source': 'other/main/secret' });
    expect(covered).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect((await s3.raw('GET', url, host())).text).toBe('content');
    await auth.credentials.delete('reader', key.accessKeyId, actor);
    expect(await s3.raw('GET', url, host())).toMatchObject({ status: 403, code: 'InvalidAccessKeyId' });
  });

  it('carry metadata in the query and ignore checksums there', async () => {
    const url = s3.presign('PUT', '/repo/main/presigned', {
      query: [
        ['x-amz-meta-color', 'blue'],
        ['x-amz-checksum-crc32', 'AAAAAA=='],
        ['x-amz-sdk-checksum-algorithm', 'CRC32'],
        ['X-Amz-Content-Sha256', 'UNSIGNED-PAYLOAD'],
      ],
    });
    expect((await s3.raw('PUT', url, host(), hello)).status).toBe(200);
    const head = await s3.head('/repo/main/presigned');
    expect(head.headers).toMatchObject({ 'x-amz-meta-color': 'blue', 'content-length': '11' });
  });

  it('of the second version expire too', async () => {
    const sign = (expires: number) => {
      const signature = createHmac('sha1', adminKey.secretAccessKey)
        .update(`GET\n\n\n${expires}\n/repo/main/x`)
        .digest('base64');
      return `/repo/main/x?AWSAccessKeyId=${adminKey.accessKeyId}&Expires=${expires}&Signature=${encodeURIComponent(signature)}`;
    };
    const seconds = Math.floor(clock / 1000);
    expect((await s3.raw('GET', sign(seconds + 60), host())).text).toBe('content');
    expect(await s3.raw('GET', sign(seconds - 1), host())).toMatchObject({
      status: 403,
      code: 'AccessDenied',
    });
  });
});

describe('bodies', () => {
  const chunked = (headers: Record<string, string>) => ({
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '11',
    ...headers,
  });

  it('of an unsigned trailer are stored without their framing', async () => {
    const put = (checksum: string) =>
      s3.put('/repo/main/a b+c.txt', hello, {
        payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        headers: chunked({
          'x-amz-trailer': 'x-amz-checksum-crc32',
          'x-amz-sdk-checksum-algorithm': 'CRC32',
          'transfer-encoding': 'chunked',
        }),
        frame: () => Buffer.from(`b\r\nhello world\r\n0\r\nx-amz-checksum-crc32:${checksum}\r\n\r\n`),
      });
    expect(await put('AAAAAA==')).toMatchObject({ status: 400, code: 'BadDigest' });
    expect((await s3.get('/repo/main/a b+c.txt')).status).toBe(404);
    const stored = await put('DUoRhQ==');
    expect(stored.status).toBe(200);
    expect(stored.headers['x-amz-checksum-crc32']).toBe('DUoRhQ==');
    expect(stored.headers['x-amz-checksum-type']).toBe('FULL_OBJECT');
    const got = await s3.get('/repo/main/a b+c.txt');
    expect(got.text).toBe('hello world');
    expect(got.headers['content-encoding']).toBeUndefined();
    expect(got.headers.etag).toBe('"5eb63bbbe01eeed093cb22bb8f5acdc3"');
  });

  it('of signed chunks are verified chunk by chunk', async () => {
    const sha = (data: Buffer) => hash('sha256', data);
    const put = (key: string, tamper: boolean) =>
      s3.put(key, hello, {
        payloadHash: 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        headers: chunked({}),
        frame: (signer, body) => {
          const first = signer.chunk(sha(body));
          const last = signer.chunk(sha(Buffer.alloc(0)));
          const data = tamper ? 'jello world' : 'hello world';
          return Buffer.from(`b;chunk-signature=${first}\r\n${data}\r\n0;chunk-signature=${last}\r\n\r\n`);
        },
      });
    expect((await put('/repo/main/chunks', false)).status).toBe(200);
    expect((await s3.get('/repo/main/chunks')).text).toBe('hello world');
    expect(await put('/repo/main/tampered', true)).toMatchObject({
      status: 403,
      code: 'SignatureDoesNotMatch',
    });
    expect((await s3.get('/repo/main/tampered')).status).toBe(404);
  });

  it.each([
    [{ 'x-amz-checksum-crc32': 'AAAAAA==' }, 'BadDigest'],
    [{ 'x-amz-checksum-crc64nvme': 'AAAAAAAAAAA=' }, 'BadDigest'],
    [{ 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }, 'BadDigest'],
    [{ 'content-md5': 'x' }, 'InvalidDigest'],
  ])('that do not match %j leave nothing behind', async (headers, code) => {
    const files = gateway.storedFiles();
    for (const size of [11, 2_000_000]) {
      const body = Buffer.alloc(size, 7);
      expect(await s3.put('/repo/main/bad', body, { headers })).toMatchObject({
        status: 400,
        code,
      });
    }
    expect((await s3.get('/repo/main/bad')).status).toBe(404);
    expect(gateway.storedFiles()).toEqual(files);
  });

  it('must have the signed digest', async () => {
    const reply = await s3.put('/repo/main/bad', 'x', { payloadHash: 'a'.repeat(64) });
    expect(reply).toMatchObject({ status: 400, code: 'XAmzContentSHA256Mismatch' });
    expect((await s3.get('/repo/main/bad')).status).toBe(404);
  });

  it('cut short leave nothing behind', async () => {
    const [begun, finished] = [gateway.begun.length, gateway.records.length];
    const files = gateway.storedFiles();
    const url = s3.presign('PUT', '/repo/main/cut');
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(`PUT ${url} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nContent-Length: 5000000\r\n\r\n`);
    socket.write(Buffer.alloc(300_000));
    await until(() => gateway.begun.length > begun);
    socket.destroy();
    await until(() => gateway.records.slice(finished).some((record) => record.status === 499));
    expect((await s3.get('/repo/main/cut')).status).toBe(404);
    expect(gateway.storedFiles()).toEqual(files);
    expect(gateway.errors).toEqual([]);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
