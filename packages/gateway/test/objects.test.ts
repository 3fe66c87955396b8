import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
const actor = { committer: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  for (const name of ['repo', 'repo2', 'frozen']) await gateway.createRepository(name);
  s3 = gateway.client();
  await s3.put('/repo/main/ten', '0123456789', { headers: { 'content-type': 'text/plain' } });
  await s3.put('/repo/main/empty', '');
  await gateway.engine.branches.create({ repository: 'repo', name: 'prot', source: 'main', actor });
  await s3.put('/repo/prot/old', 'old');
  await gateway.engine.protection.add({ repository: 'repo', pattern: 'prot' });
});
afterAll(() => gateway.close());

describe('reads', () => {
  it.each([
    ['bytes=0-3', 206, 'bytes 0-3/10', '0123'],
    ['bytes=-4', 206, 'bytes 6-9/10', '6789'],
    ['bytes=5-', 206, 'bytes 5-9/10', '56789'],
    ['bytes=9-100', 206, 'bytes 9-9/10', '9'],
    ['bytes=10-', 416, 'bytes */10', undefined],
    ['bytes=3-1', 200, undefined, '0123456789'],
    ['bytes=0-1,3-4', 200, undefined, '0123456789'],
    ['items=0-1', 200, undefined, '0123456789'],
  ])('of the range %s', async (range, status, contentRange, text) => {
    const got = await s3.get('/repo/main/ten', { headers: { range } });
    expect(got.status).toBe(status);
    expect(got.headers['content-range']).toBe(contentRange);
    if (text !== undefined) expect(got.text).toBe(text);
    else expect(got.code).toBe('InvalidRange');
    const head = await s3.head('/repo/main/ten', { headers: { range } });
    expect(head.status).toBe(status);
    expect(head.headers['content-range']).toBe(contentRange);
    if (text !== undefined) expect(head.headers['content-length']).toBe(String(text.length));
  });

  it('of an empty object have no range', async () => {
    for (const range of ['bytes=0-', 'bytes=-5'])
      for (const reply of [
        await s3.get('/repo/main/empty', { headers: { range } }),
        await s3.head('/repo/main/empty', { headers: { range } }),
      ])
        expect(reply.status).toBe(416);
    const whole = await s3.get('/repo/main/empty');
    expect(whole.status).toBe(200);
    expect(whole.headers['content-length']).toBe('0');
  });

  it('carry the headers of an object', async () => {
    const got = await s3.get('/repo/main/ten');
    expect(got.headers).toMatchObject({
      etag: '"781e5e245d69b566979b86e28d23f2c7"',
      'content-length': '10',
      'content-type': 'text/plain',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox",
    });
    expect(got.rawHeaders).toContain('ETag');
    expect(Date.parse(got.headers['last-modified'] ?? '')).toBeGreaterThan(0);
  });

  it('are conditional', async () => {
    const { headers } = await s3.head('/repo/main/ten');
    const [etag = '', modified = ''] = [headers.etag, headers['last-modified']];
    const get = (condition: Record<string, string>) => s3.get('/repo/main/ten', { headers: condition });
    const unchanged = await get({ 'if-none-match': etag });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers).toMatchObject({ etag, 'last-modified': modified });
    expect(await get({ 'if-match': '"other"' })).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect((await get({ 'if-match': etag })).status).toBe(200);
    expect((await get({ 'if-modified-since': modified })).status).toBe(304);
    expect((await get({ 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' })).status).toBe(412);
    expect((await get({ range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    expect((await get({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
  });

  it('override response headers, and know one version and one part', async () => {
    const query =
      'response-content-disposition=attachment%3B%20filename%3D%22a.txt%22&response-content-type=a%2Fb';
    const got = await s3.get('/repo/main/ten', { query });
    expect(got.headers).toMatchObject({
      'content-disposition': 'attachment; filename="a.txt"',
      'content-type': 'a/b',
    });
    expect((await s3.get('/repo/main/ten', { query: 'response-expires=a%0D%0Ab' })).status).toBe(400);
    expect(await s3.get('/repo/main/ten', { query: 'versionId=abc' })).toMatchObject({
      status: 404,
      code: 'NoSuchVersion',
    });
    expect((await s3.get('/repo/main/ten', { query: 'versionId=null' })).status).toBe(200);
    expect(await s3.delete('/repo/main/ten', { query: 'versionId=abc' })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
    expect((await s3.get('/repo/main/ten', { query: 'partNumber=1' })).status).toBe(206);
    expect((await s3.get('/repo/main/empty', { query: 'partNumber=1' })).status).toBe(200);
    expect(await s3.get('/repo/main/ten', { query: 'partNumber=2' })).toMatchObject({
      status: 416,
      code: 'InvalidPartNumber',
    });
    expect((await s3.get('/repo/main/ten', { query: 'tagging' })).text).toContain('<TagSet></TagSet>');
    expect((await s3.get('/repo/main/none', { query: 'tagging' })).status).toBe(404);
    // Only where the store signs URLs; the others send it themselves.
    const signs = gateway.block.type === 's3' || gateway.block.type === 'azure';
    expect(
      (await s3.get('/repo/main/ten', { headers: { 'user-agent': 'x s3RedirectionSupport' } })).status,
    ).toBe(signs ? 307 : 200);
  });

  it('tell when the data of an entry is gone', async () => {
    await s3.put('/repo/main/gone', Buffer.alloc(2_000_000, 1));
    const entry = await gateway.engine.objects.stat({ repository: 'repo', ref: 'main', path: 'gone' });
    await gateway.block.delete({
      storageNamespace: gateway.namespace('repo'),
      identifier: entry.physicalAddress,
      identifierType: 'full',
    });
    expect(await s3.get('/repo/main/gone')).toMatchObject({ status: 404, code: 'NoSuchVersion' });
    expect((await s3.head('/repo/main/gone')).status).toBe(200);
  });
});

describe('writes', () => {
  it('with If-None-Match let exactly one creator win', async () => {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        s3.put('/repo/main/once', String(i), { headers: { 'if-none-match': '*' } }),
      ),
    );
    const winners = replies.filter((reply) => reply.status === 200);
    expect(winners).toHaveLength(1);
    expect(
      replies.filter((reply) => reply.status === 412 && reply.code === 'PreconditionFailed'),
    ).toHaveLength(99);
    const { headers } = await s3.head('/repo/main/once');
    expect(headers.etag).toBe(winners[0]?.headers.etag);
  });

  it('with If-Match want the current object', async () => {
    const first = await s3.put('/repo/main/matched', '1');
    const put = (headers: Record<string, string>, key = 'matched') =>
      s3.put(`/repo/main/${key}`, '2', { headers });
    expect(await put({ 'if-match': '"stale"' })).toMatchObject({ status: 412, code: 'PreconditionFailed' });
    expect(await put({ 'if-match': '"x"' }, 'absent')).toMatchObject({ status: 404, code: 'NoSuchKey' });
    expect(await put({ 'if-match': '"x"', 'if-none-match': '*' })).toMatchObject({ status: 501 });
    expect(await put({ 'if-none-match': '"x"' })).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect((await put({ 'if-match': first.headers.etag ?? '' })).status).toBe(200);
    expect((await put({ 'if-match': '*' })).status).toBe(200);
    expect((await put({ 'if-match': '', 'if-none-match': '' })).status).toBe(200);
  });

  it('keep metadata and headers, through copies too', async () => {
    const headers = {
      'x-amz-meta-FOO': '=?utf-8?q?=D7=A9=D7=9C=D7=95=D7=9D?=',
      'content-type': 'text/html; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'max-age=5',
      'content-disposition': 'inline',
      'content-language': 'de',
      expires: 'Wed, 21 Oct 2037 07:28:00 GMT',
    };
    expect((await s3.put('/repo/main/meta', 'x', { headers })).status).toBe(200);
    const entry = await gateway.engine.objects.stat({ repository: 'repo', ref: 'main', path: 'meta' });
    expect(entry.metadata['X-Amz-Meta-foo']).toBe('שלום');
    const { 'x-amz-meta-FOO': color, ...system } = headers;
    const expected = { ...system, 'x-amz-meta-foo': color };
    const head = await s3.head('/repo/main/meta');
    expect(head.headers).toMatchObject(expected);
    expect(head.rawHeaders).toContain('x-amz-meta-foo');
    const copy = (target: string, more: Record<string, string> = {}) =>
      s3.put(`/repo/main/${target}`, '', { headers: { 'x-amz-copy-source': '/repo/main/meta', ...more } });
    expect((await copy('meta-copy')).status).toBe(200);
    expect((await s3.head('/repo/main/meta-copy')).headers).toMatchObject(expected);
    const replaced = await copy('meta', {
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-meta-bar': 'b',
      'content-type': 'a/b',
    });
    expect(replaced.status).toBe(200);
    const after = (await s3.head('/repo/main/meta')).headers;
    expect(after).toMatchObject({ 'x-amz-meta-bar': 'b', 'content-type': 'a/b' });
    expect(after['cache-control']).toBeUndefined();
    expect(after['x-amz-meta-foo']).toBeUndefined();
    expect(await copy('meta', { 'x-amz-metadata-directive': 'replace' })).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
    const put = (length: number) =>
      s3.put('/repo/main/large', 'x', { headers: { 'x-amz-meta-abc': 'v'.repeat(length) } });
    expect((await put(2045)).status).toBe(200);
    expect(await put(2046)).toMatchObject({ status: 400, code: 'MetadataTooLarge' });
  });

  it('never touch content when a sub-resource is meant', async () => {
    for (const verifyUnsupported of [true, false]) {
      const other = await composeGateway({ gateway: { verifyUnsupported } });
      try {
        await other.createRepository('repo');
        const client = other.client();
        await client.put('/repo/main/x', 'content');
        for (const query of ['acl', 'encryption', 'legal-hold', 'retention'])
          expect(await client.put('/repo/main/x', 'y', { query })).toMatchObject({
            status: 405,
            code: 'ERRLakeFSNotSupported',
          });
        expect(await client.put('/repo/main/x', 'y', { query: 'partNumber=1' })).toMatchObject({
          status: 400,
        });
        expect(await client.put('/repo/main/x', 'y', { query: 'tagging' })).toMatchObject({
          status: 400,
          code: 'MalformedXML',
        });
        expect(await client.delete('/repo/main/x', { query: 'tagging' })).toMatchObject({ status: 204 });
        expect((await client.get('/repo/main/x')).text).toBe('content');
        const acl = await client.get('/repo/main/x', { query: 'acl' });
        expect(acl.status).toBe(verifyUnsupported ? 501 : 200);
      } finally {
        await other.close();
      }
    }
  });

  it('say 100 Continue only when the body is wanted', async () => {
    const allowed = await s3.put('/repo/main/expected', 'body', { expect: true });
    expect(allowed).toMatchObject({ status: 200, continued: true });
    expect((await s3.get('/repo/main/expected')).text).toBe('body');
    expect(await s3.put('/repo/main/big', Buffer.alloc(3_000_000, 1), { expect: true })).toMatchObject({
      status: 200,
      continued: true,
    });
    for (const size of [10, 3_000_000]) {
      const body = Buffer.alloc(size, 1);
      expect(await s3.put('/repo/prot/x', body, { expect: true })).toMatchObject({
        status: 403,
        code: 'ErrWriteToProtectedBranch',
        continued: false,
      });
      expect(await s3.put('/repo/nobranch/x', body, { expect: true })).toMatchObject({
        status: 404,
        code: 'NoSuchBucket',
        continued: false,
      });
      const exists = { expect: true, headers: { 'if-none-match': '*' } };
      expect(await s3.put('/repo/main/ten', body, exists)).toMatchObject({ status: 412, continued: false });
    }
  });

  it('refuse a large body early without losing the answer', async () => {
    const body = Buffer.alloc(12 * 1024 * 1024, 1);
    const refused = await s3.put('/repo/prot/x', body);
    expect(refused).toMatchObject({ status: 403, code: 'ErrWriteToProtectedBranch' });
    expect(refused.headers.connection).toBe('close');
    const small = await s3.put('/repo/prot/x', 'small');
    expect(small.code).toBe('ErrWriteToProtectedBranch');
    expect(small.headers.connection).not.toBe('close');
  });

  it('are refused in a read-only repository before the body', async () => {
    const frozen = await composeGateway();
    try {
      await frozen.engine.repositories.create({
        name: 'frozen',
        storageNamespace: frozen.namespace('frozen'),
        readOnly: true,
        actor,
      });
      const client = frozen.client();
      const refusal = { status: 403, code: 'ErrReadOnlyRepository' };
      const remove = '<Delete><Object><Key>main/x</Key></Object></Delete>';
      expect(await client.put('/frozen/main/x', 'x', { expect: true })).toMatchObject({
        ...refusal,
        continued: false,
      });
      expect(await client.delete('/frozen/main/x')).toMatchObject(refusal);
      expect(await client.post('/frozen', remove, { query: 'delete' })).toMatchObject(refusal);
      expect(await client.post('/frozen/main/x', '', { query: 'uploads' })).toMatchObject(refusal);
      expect((await client.head('/frozen')).status).toBe(200);
    } finally {
      await frozen.close();
    }
  });
});

describe('deletes', () => {
  const remove = (keys: readonly string[], client: S3TestClient = s3, more = '') =>
    client.post(
      '/repo',
      `<Delete>${more}${keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('')}</Delete>`,
      { query: 'delete=' },
    );

  it('answer 204 for anything, but keep what a condition protects', async () => {
    await s3.put('/repo/main/del', 'x');
    expect(await s3.delete('/repo/main/del', { headers: { 'if-match': '"stale"' } })).toMatchObject({
      status: 412,
      code: 'PreconditionFailed',
    });
    expect((await s3.head('/repo/main/del')).status).toBe(200);
    expect((await s3.delete('/repo/main/del')).status).toBe(204);
    expect((await s3.delete('/repo/main/del')).status).toBe(204);
    expect((await s3.delete('/repo/main/del', { headers: { 'if-match': '*' } })).status).toBe(204);
    expect((await s3.delete('/repo/nobranch/x')).status).toBe(204);
    expect(await s3.delete('/repo/prot/old')).toMatchObject({
      status: 403,
      code: 'ErrWriteToProtectedBranch',
    });
  });

  it('of many keys fail one by one', async () => {
    await s3.put('/repo/main/a/1', 'x');
    const keys = ['main/a/1', 'main/', 'main/none', 'nobranch/x', 'prot/old'];
    const reply = await remove(keys);
    expect(reply.status).toBe(200);
    expect([...reply.text.matchAll(/<Deleted><Key>([^<]*)</g)].map((match) => match[1])).toEqual(
      keys.slice(0, 4),
    );
    expect(reply.text).toContain('<Error><Key>prot/old</Key><Code>ErrWriteToProtectedBranch</Code>');
    expect((await s3.head('/repo/main/a/1')).status).toBe(404);
    expect((await s3.head('/repo/prot/old')).status).toBe(200);
    const quiet = await remove(keys, s3, '<Quiet>TRUE</Quiet>');
    expect(quiet.text).not.toContain('<Deleted>');
    expect(quiet.all('Code')).toEqual(['ErrWriteToProtectedBranch']);
  });

  it('check their document, versions, tags and rights', async () => {
    await s3.put('/repo/main/keep', 'x');
    for (const body of ['', 'x', '<Delete></Delete>', '<Delete><Object/></Delete>'])
      expect(await s3.post('/repo', body, { query: 'delete' })).toMatchObject({
        status: 400,
        code: 'MalformedXML',
      });
    const tooMany = Array.from({ length: 1001 }, (_, i) => `main/${i}`);
    expect(await remove(tooMany)).toMatchObject({ status: 400, code: 'MalformedXML' });
    const guarded = await s3.post(
      '/repo',
      '<Delete><Object><Key>main/keep</Key><ETag>"stale"</ETag></Object><Object><VersionId>v</VersionId><Key>main/keep</Key></Object></Delete>',
      { query: 'delete' },
    );
    expect(guarded.all('Code')).toEqual(['PreconditionFailed', 'NoSuchVersion']);
    const viewer = await createUser(gateway, 'viewer', [
      { effect: 'allow', action: ['fs:ReadObject', 'fs:ListRepositories'], resource: '*' },
    ]);
    const denied = await remove(['main/keep', 'main/ten'], viewer.client);
    expect(denied.status).toBe(200);
    expect(denied.all('Code')).toEqual(['AccessDenied', 'AccessDenied']);
    expect((await s3.head('/repo/main/keep')).status).toBe(200);
    expect(await s3.post('/repo', 'x', { query: 'other' })).toMatchObject({ status: 405 });
  });
});

describe('records', () => {
  it('tell what happened without telling secrets', async () => {
    await s3.put('/repo/main/recorded', 'four');
    await s3.get('/repo/main/recorded', { headers: { range: 'bytes=0-1', 'user-agent': 'tests/1' } });
    const [put, got] = gateway.records.slice(-2);
    expect(put).toMatchObject({ operation: 'put_object', event: 'put_object', status: 200, bytesIn: 4 });
    expect(got).toMatchObject({
      operation: 'get_object',
      repository: 'repo',
      ref: 'main',
      path: 'recorded',
      status: 206,
      bytesOut: 2,
      client: 'tests/1',
      rawPath: '/repo/main/recorded',
    });
    expect(got?.identity?.user.username).toBe('admin');
    expect(JSON.stringify(got)).not.toMatch(/[Ss]ignature|secret/);
  });
});
