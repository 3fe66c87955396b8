import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, composeGateway, domain, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';
import { createUser } from './create-user.ts';

let gateway: TestGateway;
let s3: S3TestClient;

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  s3 = gateway.client();
  await s3.put('/repo/main/x', 'content');
});
afterAll(() => gateway.close());

describe('routing', () => {
  it('keeps unsigned requests at a gateway host away from the UI', async () => {
    const unsigned = await s3.raw('GET', '/', { host: domain });
    expect(unsigned).toMatchObject({ status: 403, code: 'AccessDenied' });
    expect((await s3.raw('GET', '/', { host: 'svc.localhost' })).text).toBe('<html>ui</html>');
  });

  it('finds one object by path and by virtual host', async () => {
    for (const [path, host] of [
      ['/repo/main/x', `127.0.0.1:${gateway.port}`],
      ['/repo/main/x', domain],
      ['/main/x', `repo.${domain}`],
      ['/main/x', `REPO.${domain.toUpperCase()}:8000`],
      ['/repo/main/x', `x${domain}`],
    ] as const)
      expect((await s3.get(path, { host })).text).toBe('content');
  });

  it('answers every response with request ids', async () => {
    for (const reply of [await s3.get('/repo/main/x'), await s3.raw('GET', '/', { host: domain })]) {
      expect(reply.headers['x-amz-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      expect(reply.headers['x-amz-id-2']).toMatch(/^[0-9A-F]{16}$/);
      expect(reply.headers.server).toBe('svc');
      expect(reply.headers.date).toBeDefined();
    }
    const missing = await s3.get('/repo/main/none');
    expect(missing.text).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<Error><Code>NoSuchKey<\/Code><Message>[^<]+<\/Message><Key>none<\/Key><BucketName>repo<\/BucketName><Resource>main@repo<\/Resource><Region>us-east-1<\/Region><RequestId>[^<]+<\/RequestId><HostId>[0-9A-F]{16}<\/HostId><\/Error>$/,
    );
    expect(missing.headers['content-type']).toBe('application/xml');
    expect(
      (await s3.get('/repo/main/none', { headers: { accept: 'text/xml' } })).headers['content-type'],
    ).toBe('text/xml');
    const head = await s3.head('/repo/main/none');
    expect(head.status).toBe(404);
    expect(head.headers['content-type']).toBeUndefined();
  });

  it('tells unknown repositories, and clients whose endpoint is the API', async () => {
    expect(await s3.get('/nope')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    expect(await s3.get('/Bad_Name')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    expect(await s3.get('/api/v1/nope', { query: 'list-type=2' })).toMatchObject({
      status: 404,
      code: 'ErrNoSuchBucketPossibleAPIEndpoint',
    });
    const { client } = await createUser(gateway, 'stranger', []);
    expect(await client.get('/nope')).toMatchObject({ status: 403, code: 'AccessDenied' });
  });

  it('treats a branch without a path as a place, not an object', async () => {
    const marker = await s3.put('/repo/main/', '');
    expect(marker.status).toBe(200);
    expect(marker.headers.etag).toBe('"d41d8cd98f00b204e9800998ecf8427e"');
    expect(await s3.put('/repo/nobranch/', '')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    expect(await s3.put('/repo/main', '')).toMatchObject({ status: 400, code: 'InvalidArgument' });
    expect(await s3.put('/repo/main/', 'x')).toMatchObject({ status: 400, code: 'InvalidArgument' });
    expect((await s3.delete('/repo/main')).status).toBe(204);
    expect((await s3.delete('/repo/main/')).status).toBe(204);
    expect(await s3.get('/repo/main')).toMatchObject({ status: 404, code: 'NoSuchKey' });
    expect(await s3.get('/repo//x')).toMatchObject({ status: 404, code: 'NoSuchKey' });
    expect(await s3.put('/repo//x', 'y')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    expect((await s3.delete('/repo//x')).status).toBe(204);
    expect((await s3.get('/repo/main/x')).text).toBe('content');
  });

  it('refuses methods and keys it cannot serve', async () => {
    for (const path of ['/', '/repo', '/repo/main/x'])
      expect(await s3.send('PATCH', path)).toMatchObject({ status: 405, code: 'MethodNotAllowed' });
    expect(await s3.put(`/repo/main/${'k'.repeat(1025)}`, 'x')).toMatchObject({
      status: 400,
      code: 'KeyTooLongError',
    });
    expect(await s3.put('/repo/main/%ff', 'x', { rawPath: true })).toMatchObject({
      status: 400,
      code: 'InvalidURI',
    });
    expect(await s3.put('/repo/main~1/x', 'x')).toMatchObject({ status: 404, code: 'NoSuchBucket' });
    expect((await s3.delete('/repo/main~1/x')).status).toBe(204);
    for (const ref of ['main^9', 'nope', 'main~~x', '~', 'main$$'])
      expect(await s3.get(`/repo/${ref}/x`)).toMatchObject({ status: 404, code: 'NoSuchKey' });
  });

  it.each(['a b+c%.txt', "蒙A ~*'()!.jpg", 'x//y', '../a/./b', 'trailing/', 'k'.repeat(1024), 'nul\0\u0001'])(
    'keeps the key %j byte for byte',
    async (key) => {
      expect((await s3.put(`/repo/main/odd/${key.slice(0, 1020)}`, key)).status).toBe(200);
      expect((await s3.get(`/repo/main/odd/${key.slice(0, 1020)}`)).text).toBe(key);
      expect((await s3.delete(`/repo/main/odd/${key.slice(0, 1020)}`)).status).toBe(204);
    },
  );
});

describe('buckets', () => {
  it('exist, have a region and cannot be made or removed here', async () => {
    const head = await s3.head('/repo');
    expect(head.status).toBe(200);
    expect(head.headers['x-amz-bucket-region']).toBe('us-east-1');
    expect((await s3.head('/nope')).status).toBe(404);
    expect(await s3.put('/repo', '')).toMatchObject({ status: 409, code: 'BucketAlreadyExists' });
    expect(await s3.put('/new-repo', '')).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect(await s3.delete('/repo')).toMatchObject({ status: 405, code: 'ERRLakeFSNotSupported' });
    expect((await s3.get('/repo', { query: 'versioning' })).text).toContain(
      '<VersioningConfiguration xmlns=',
    );
  });

  it('answer sub-resources they do not have in a way clients survive', async () => {
    for (const name of ['acl', 'lifecycle', 'cors'])
      expect(await s3.get('/repo', { query: name })).toMatchObject({
        status: 501,
        code: 'ERRLakeFSNotSupported',
      });
    expect(await s3.get('/repo', { query: 'policy' })).toMatchObject({
      status: 405,
      code: 'ERRLakeFSNotSupported',
    });
  });
});

describe('listing buckets', () => {
  it('shows what is not denied to those who may list', async () => {
    await gateway.createRepository('team-a');
    const statement = (effect: string, resource: string) => ({
      effect,
      action: ['fs:ListRepositories'],
      resource,
    });
    const most = await createUser(gateway, 'most', [
      statement('allow', '*'),
      statement('deny', 'arn:svc:fs:::repository/team-*'),
    ]);
    const listed = await most.client.get('/');
    expect(listed.all('Name')).toEqual(['repo']);
    expect(listed.text).toContain(
      '<Owner><ID>most</ID><DisplayName>most</DisplayName></Owner><Buckets><Bucket>',
    );
    const some = await createUser(gateway, 'some', [statement('allow', 'arn:svc:fs:::repository/team-*')]);
    const none = await createUser(gateway, 'none', []);
    for (const { client } of [some, none])
      expect(await client.get('/')).toMatchObject({ status: 403, code: 'AccessDenied' });
    const first = await s3.get('/', { query: 'max-buckets=1' });
    expect(first.all('Name')).toEqual(['repo']);
    const token = first.xml('ContinuationToken') ?? '';
    expect((await s3.get('/', { query: `continuation-token=${token}` })).all('Name')).toEqual(['team-a']);
    expect((await s3.get('/', { query: 'prefix=team' })).all('Name')).toEqual(['team-a']);
  });
});

describe('the fallback server', () => {
  let target: Server;
  let through: TestGateway;
  const seen: { url: string; method: string; headers: IncomingMessage['headers']; body: Buffer }[] = [];

  beforeAll(async () => {
    target = createServer((message, response) => {
      const pieces: Buffer[] = [];
      message.on('data', (piece: Buffer) => pieces.push(piece));
      message.on('end', () => {
        const { url = '', method = '', headers } = message;
        seen.push({ url, method, headers, body: Buffer.concat(pieces) });
        response.writeHead(418, { 'X-Fallback': 'yes' }).end('from the fallback');
      });
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const { port } = target.address() as AddressInfo;
    through = await composeGateway({ gateway: { fallbackUrl: `http://127.0.0.1:${port}/base/` } });
    await through.createRepository('known');
  });
  afterAll(async () => {
    await through.close();
    target.closeAllConnections();
    target.close();
  });

  it('gets requests for unknown repositories untouched', async () => {
    const client = through.client();
    const framed = Buffer.from('b\r\nhello world\r\n0\r\n\r\n');
    const reply = await client.put('/dotted.bucket/a b', framed, {
      query: 'x-id=PutObject',
      payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
    });
    expect(reply).toMatchObject({ status: 418, text: 'from the fallback' });
    expect(reply.headers['x-fallback']).toBe('yes');
    const request = seen.at(-1);
    expect(request).toMatchObject({ method: 'PUT', url: '/base/dotted.bucket/a%20b?x-id=PutObject' });
    expect(request?.body.equals(framed)).toBe(true);
    expect(request?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      host: `127.0.0.1:${through.port}`,
    });
    expect(request?.headers.authorization).toContain(adminKey.accessKeyId);
    expect(request?.headers['accept-encoding']).toBeUndefined();
    await client.get('/nope/main/x', { host: `${domain}:80` });
    expect(seen.at(-1)?.headers.host).toMatch(/^127\.0\.0\.1:\d+:80$/);
  });

  it('never sees known repositories or callers who may not list', async () => {
    const count = seen.length;
    expect((await through.client().get('/known/main/x')).code).toBe('NoSuchKey');
    const { client } = await createUser(through, 'stranger', []);
    expect((await client.get('/nope/main/x')).code).toBe('AccessDenied');
    expect(seen.length).toBe(count);
  });
});
