import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeGateway, domain, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
const heads: string[] = [];
const actor = { committer: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  await gateway.createRepository('other');
  s3 = gateway.client();
  const { engine } = gateway;
  for (const content of ['one', 'two']) {
    await s3.put('/repo/main/tables/k', content);
    await s3.put('/repo/main/elsewhere', content);
    heads.push((await engine.commits.create({ repository: 'repo', branch: 'main', message: 'm', actor })).id);
  }
  await engine.branches.create({ repository: 'repo', name: 'dev', source: 'main', actor });
});
afterAll(() => gateway.close());

async function alias(name: string, target: object): Promise<void> {
  const { bindings } = gateway.engine;
  const full = { repository: 'repo', ref: 'main', ...target };
  const known = await bindings.listAliases({ prefix: name });
  if (known.items.length === 0) await bindings.createAlias({ name, target: full, actor });
  else await bindings.setAlias({ name, target: full, actor });
}

it('an alias of a branch is read, written, listed and deleted below its prefix, and says the commit', async () => {
  await alias('live', { prefix: 'tables/' });
  const read = await s3.get('/live/k');
  expect([read.status, read.text, read.headers['x-svc-commit']]).toEqual([200, 'two', heads[1]]);
  expect((await s3.put('/live/new/deep', 'staged')).status).toBe(200);
  expect((await s3.get('/repo/main/tables/new/deep')).text).toBe('staged');
  const listed = await s3.get('/live', { query: 'list-type=2' });
  expect([listed.xml('Name'), listed.all('Key')]).toEqual(['live', ['k', 'new/deep']]);
  expect(listed.headers['x-svc-commit']).toBe(heads[1]);
  const folders = await s3.get('/live', { query: 'list-type=2&delimiter=%2F&max-keys=1' });
  expect([folders.all('Key'), folders.xml('IsTruncated')]).toEqual([['k'], 'true']);
  const token = encodeURIComponent(folders.xml('NextContinuationToken') ?? '');
  const next = await s3.get('/live', { query: `list-type=2&delimiter=%2F&continuation-token=${token}` });
  expect(next.text).toContain('<CommonPrefixes><Prefix>new/</Prefix></CommonPrefixes>');
  expect((await s3.get('/live', { query: 'list-type=2&prefix=..%2F' })).all('Key')).toEqual([]);
  expect((await s3.head('/live')).status).toBe(200);
  const gone = await s3.post('/live', '<Delete><Object><Key>new/deep</Key></Object></Delete>', {
    query: 'delete',
  });
  expect(gone.all('Key')).toEqual(['new/deep']);
  expect((await s3.get('/repo/main/tables/new/deep')).status).toBe(404);
  expect((await s3.get('/live/elsewhere')).status).toBe(404);
});

it('a pinned alias refuses every write and names the commit; a swap holds for the next request', async () => {
  await alias('prod', { ref: 'main~1', pin: true, prefix: 'tables/' });
  expect((await s3.get('/prod/k')).text).toBe('one');
  for (const reply of [
    await s3.put('/prod/k', 'x'),
    await s3.delete('/prod/k'),
    await s3.delete('/prod/not-there'),
    await s3.post('/prod/k', '', { query: 'uploads' }),
  ]) {
    expect([reply.status, reply.code]).toEqual([403, 'AccessDenied']);
    expect(reply.xml('Message')).toBe(
      `bucket 'prod' shows commit ${String(heads[0]).slice(0, 8)} and cannot be written; write to a branch`,
    );
    expect(reply.xml('BucketName')).toBe('prod');
  }
  await alias('prod', { ref: 'main', readOnly: true, prefix: 'tables/' });
  expect((await s3.get('/prod/k')).text).toBe('two');
  expect((await s3.put('/prod/k', 'x')).code).toBe('AccessDenied');
  await alias('prod', { ref: 'main@-1' });
  expect((await s3.get('/prod/tables/k')).text).toBe('one');
  await gateway.engine.tags.create({ repository: 'repo', id: 'v1', ref: 'main', actor });
  await alias('prod', { ref: 'v1' });
  expect((await s3.delete('/prod/tables/k')).code).toBe('AccessDenied');
});

it('what an alias shows and is gone is no bucket, whatever is asked', async () => {
  await gateway.engine.branches.create({ repository: 'repo', name: 'short', source: 'main', actor });
  await alias('brief', { ref: 'short' });
  const seen = await s3.get('/brief/tables/k');
  expect([seen.status, seen.headers['x-svc-commit']]).toEqual([200, heads[1]]);
  await gateway.engine.branches.delete({ repository: 'repo', branch: 'short', actor });
  for (const reply of [
    await s3.get('/brief/tables/k'),
    await s3.get('/brief/k'),
    await s3.get('/brief', { query: 'list-type=2' }),
    await s3.put('/brief/k', 'x'),
  ]) {
    expect([reply.status, reply.code]).toEqual([404, 'NoSuchBucket']);
  }
});

it('copies go between aliases and repositories', async () => {
  await alias('live', { prefix: 'tables/' });
  const copy = (path: string, source: string) =>
    s3.put(path, '', { headers: { 'x-amz-copy-source': source } });
  expect((await copy('/live/copied', 'live/k')).status).toBe(200);
  expect((await copy('/repo/dev/from-alias', '/live/copied')).status).toBe(200);
  expect((await s3.get('/repo/dev/from-alias')).text).toBe('two');
  expect((await copy('/live/back', 'repo/dev/from-alias')).status).toBe(200);
  expect((await s3.get('/live/back')).text).toBe('two');
  expect((await copy('/live/back', 'live/')).code).toBe('InvalidArgument');
});

it('an upload goes on where it began, also after a swap, until that branch is gone', async () => {
  await alias('live', { ref: 'dev', prefix: 'tables/' });
  const begin = async (): Promise<string> =>
    (await s3.post('/live/big', '', { query: 'uploads' })).xml('UploadId') ?? '';
  const id = await begin();
  expect((await s3.get('/live', { query: 'uploads' })).all('Key')).toEqual(['big']);
  await alias('live', { ref: 'main~1', pin: true, prefix: 'other/' });
  const part = await s3.put('/live/big', 'content', { query: `partNumber=1&uploadId=${id}` });
  expect(part.status).toBe(200);
  const listed = await s3.get('/live/big', { query: `uploadId=${id}` });
  expect([listed.xml('Bucket'), listed.xml('Key')]).toEqual(['live', 'big']);
  const document = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${String(part.headers.etag)}</ETag></Part></CompleteMultipartUpload>`;
  const done = await s3.post('/live/big', document, { query: `uploadId=${id}` });
  expect([done.status, done.xml('Key')]).toEqual([200, 'big']);
  expect((await s3.get('/repo/dev/tables/big')).text).toBe('content');
  expect((await s3.get('/repo/main/tables/big')).status).toBe(404);

  await alias('live', { ref: 'dev', prefix: 'tables/' });
  const lost = await begin();
  await gateway.engine.branches.delete({ repository: 'repo', branch: 'dev', actor });
  await alias('live', { ref: 'main', prefix: 'tables/' });
  const late = await s3.put('/live/big', 'x', { query: `partNumber=1&uploadId=${lost}` });
  expect([late.status, late.code]).toEqual([404, 'NoSuchUpload']);
});

it('rights are those on what lies behind; the alias adds none', async () => {
  await alias('live', { prefix: 'tables/' });
  const object = 'arn:svc:fs:::repository/repo/object/';
  const { client: reader } = await createUser(gateway, 'reader', [
    { effect: 'allow', action: ['fs:ReadObject'], resource: `${object}tables/*` },
  ]);
  expect((await reader.get('/live/k')).text).toBe('two');
  expect((await reader.put('/live/k', 'x')).code).toBe('AccessDenied');
  expect((await reader.get('/live', { query: 'list-type=2' })).code).toBe('AccessDenied');
  const { client: other } = await createUser(gateway, 'named', [
    { effect: 'allow', action: ['fs:*'], resource: 'arn:svc:fs:::repository/live/*' },
    { effect: 'allow', action: ['fs:*'], resource: 'arn:svc:fs:::alias/live' },
  ]);
  expect((await other.get('/live/k')).code).toBe('AccessDenied');
  const copied = await other.put('/live/x', '', { headers: { 'x-amz-copy-source': 'live/k' } });
  expect(copied.code).toBe('AccessDenied');
});

it('aliases are listed among the buckets, in order and in pages', async () => {
  await alias('live', { prefix: 'tables/' });
  const names = (await s3.get('/')).all('Name');
  expect(names).toEqual(['brief', 'live', 'other', 'prod', 'repo']);
  const first = await s3.get('/', { query: 'max-buckets=2' });
  expect(first.all('Name')).toEqual(['brief', 'live']);
  const token = encodeURIComponent(first.xml('ContinuationToken') ?? '');
  const rest = await s3.get('/', { query: `max-buckets=3&continuation-token=${token}` });
  expect([rest.all('Name'), rest.xml('ContinuationToken')]).toEqual([['other', 'prod', 'repo'], undefined]);
});

it('a key with a view knows one bucket, by signature only, and nothing when the view is gone', async () => {
  const { engine, auth } = gateway;
  const target = { repository: 'repo', ref: 'main', prefix: 'tables/' };
  const key = await auth.credentials.create('admin', { username: 'admin' }, undefined, (accessKeyId) =>
    engine.bindings.setView({ accessKeyId, target, actor }),
  );
  const viewer = gateway.client(key);
  expect((await viewer.get('/repo', { query: 'list-type=2' })).all('Key')).toContain('k');
  expect((await viewer.get('/repo/k')).text).toBe('two');
  expect((await viewer.get('/')).all('Name')).toEqual(['repo']);
  for (const bucket of ['other', 'live', 'nothing']) {
    expect([bucket, (await viewer.get(`/${bucket}/k`)).code]).toEqual([bucket, 'AccessDenied']);
  }
  const copied = await viewer.put('/repo/c', '', { headers: { 'x-amz-copy-source': 'other/main/k' } });
  expect(copied.code).toBe('AccessDenied');
  const basic = Buffer.from(`${key.accessKeyId}:${key.secretAccessKey}`).toString('base64');
  const refused = await s3.get('/repo/k', {
    unsigned: true,
    host: `${domain}:${gateway.port}`,
    headers: { authorization: `Basic ${basic}` },
  });
  expect([refused.status, refused.text]).toEqual([
    401,
    '{"message":"this access key is bound to a bucket; use it with the S3 endpoint"}',
  ]);
  await engine.bindings.deleteView({ accessKeyId: key.accessKeyId, actor });
  expect((await viewer.get('/repo/k')).code).toBe('AccessDenied');
  expect((await viewer.get('/')).code).toBe('AccessDenied');
});
