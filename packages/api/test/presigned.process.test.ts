import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBlockStores } from '@svc/block';
import type { BlockStores } from '@svc/block';
import { createClient } from '@svc/client';
import type { Client } from '@svc/client';
import { testServerOrSkip } from '@svc/testing';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { engineOver } from './mem-engine.ts';
import { createBucket } from './s3-bucket.ts';
import { adminKey, installation, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi | undefined;
let stores: BlockStores;
let ask: Ask;
let client: Client;
const repository = `presigned-${randomUUID().slice(0, 8)}`;

// Compiled on a first run, so no time limit of a hook or test may hold.
const s3 = await testServerOrSkip('versitygw');

beforeAll(async () => {
  if (s3 === undefined) return;
  const bucket = `svc-${randomUUID()}`;
  await createBucket(s3, bucket);
  stores = await openBlockStores([
    {
      type: 's3',
      endpoint: s3.endpoint,
      region: s3.region,
      forcePathStyle: true,
      discoverBucketRegion: false,
      credentials: { accessKeyId: s3.accessKeyId, secretAccessKey: s3.secretAccessKey },
    },
  ]);
  const storage = installation.storage!;
  api = await startApi((kv, bus) => engineOver(stores, kv, bus), {
    facts: {
      ...installation,
      storage: { ...storage, type: 's3', preSignSupport: true, preSignMultipartUpload: true },
    },
  });
  ask = checkedClient(api.url);
  client = createClient({
    endpoint: api.url,
    credentials: { accessKeyId: adminKey.accessKeyId, secretAccessKey: adminKey.secretAccessKey },
  });
  const created = await ask('POST', '/repositories', {
    json: { name: repository, storage_namespace: `s3://${bucket}/${repository}` },
  });
  expect(created.status).toBe(201);
});

afterAll(async () => {
  await api?.stop();
  await stores?.close();
});

async function bytesOf(path: string, presign: boolean): Promise<Buffer> {
  const { body } = await client.objects.download({ repository, ref: 'main', path, presign });
  return Buffer.from(await new Response(body).arrayBuffer());
}

test('a small body goes straight to the object store and is linked', async (context) => {
  if (api === undefined) return context.skip('no S3 server here');
  const stats = await client.objects.uploadPresigned({
    repository,
    branch: 'main',
    path: 'small.txt',
    body: new Blob(['small']),
    contentType: 'text/plain',
    metadata: { k: 'v' },
  });
  expect(stats).toMatchObject({ size_bytes: 5, content_type: 'text/plain', metadata: { k: 'v' } });
  expect((await bytesOf('small.txt', true)).toString()).toBe('small');
  expect((await bytesOf('small.txt', false)).toString()).toBe('small');
});

test('a large body goes in parts', async (context) => {
  if (api === undefined) return context.skip('no S3 server here');
  const data = randomBytes(12 * 1024 * 1024 + 7);
  const stats = await client.objects.uploadPresigned({
    repository,
    branch: 'main',
    path: 'large.bin',
    body: new Blob([data]),
  });
  expect(stats.size_bytes).toBe(data.length);
  expect(stats.checksum).toMatch(/-3$/);
  expect((await bytesOf('large.bin', true)).equals(data)).toBe(true);
});

test('reads are redirected, stats and lists carry URLs', async (context) => {
  if (api === undefined) return context.skip('no S3 server here');
  await client.objects.upload({ repository, branch: 'main', path: 'dir/a.txt', body: 'content' });
  const refs = `/repositories/${repository}/refs/main/objects`;
  const redirect = await ask('GET', `${refs}?path=dir%2Fa.txt&presign=true`);
  expect(redirect.status).toBe(302);
  expect(await (await fetch(redirect.headers.get('location')!)).text()).toBe('content');
  const stat = await ask('GET', `${refs}/stat?path=dir%2Fa.txt&presign=true`);
  expect(stat.body.physical_address).toMatch(/^http.*X-Amz-Signature=/);
  expect(stat.body.physical_address_expiry).toBeGreaterThan(Date.now() / 1000);
  const list = await ask('GET', `${refs}/ls?prefix=dir%2F&presign=true`);
  expect(await (await fetch(list.body.results[0].physical_address)).text()).toBe('content');
  const plain = await ask('GET', `${refs}/ls?prefix=dir%2F`);
  expect(plain.body.results[0].physical_address).toMatch(/^s3:/);
});

test('a list carries URLs of those objects only that the caller may read', async (context) => {
  if (api === undefined) return context.skip('no S3 server here');
  for (const path of ['open/a.txt', 'shut/b.txt'])
    await client.objects.upload({ repository, branch: 'main', path, body: 'content' });
  const lists = { effect: 'allow' as const, action: ['fs:ListObjects'], resource: '*' };
  const reads = {
    effect: 'allow' as const,
    action: ['fs:ReadObject'],
    resource: `arn:svc:fs:::repository/${repository}/object/open/*`,
  };
  await client.post('/auth/users', { body: { id: 'lister' } });
  await client.post('/auth/policies', { body: { id: 'lists', statement: [lists, reads] } });
  const path = { userId: 'lister', policyId: 'lists' };
  await client.put('/auth/users/{userId}/policies/{policyId}', { params: { path } });
  const key = await client.post('/auth/users/{userId}/credentials', { params: { path } });
  const pair = Buffer.from(`${key.access_key_id}:${key.secret_access_key}`).toString('base64');
  const list = await checkedClient(api.url, `Basic ${pair}`)(
    'GET',
    `/repositories/${repository}/refs/main/objects/ls?presign=true`,
  );
  expect(list.status).toBe(200);
  const addresses = new Map(
    list.body.results.map((each: Record<string, string>) => [each['path'], each['physical_address']]),
  );
  expect(addresses.get('open/a.txt')).toMatch(/^http.*X-Amz-Signature=/);
  expect(addresses.get('shut/b.txt')).toMatch(/^s3:/);
});

test('parts are checked, copied and aborted', async (context) => {
  if (api === undefined) return context.skip('no S3 server here');
  const staging = `/repositories/${repository}/branches/main/staging/pmpu`;
  expect((await ask('POST', `${staging}?path=x&parts=10001`)).status).toBe(400);
  const created = await ask('POST', `${staging}?path=x`);
  expect([created.status, created.body.presigned_urls]).toEqual([201, undefined]);
  const { upload_id, physical_address } = created.body;
  const upload = `${staging}/${encodeURIComponent(upload_id as string)}`;
  const part = await ask('PUT', `${upload}/parts/1?path=x`, { json: { physical_address } });
  expect(part.body.presigned_url).toMatch(/^http/);
  expect((await ask('PUT', `${upload}/parts/0?path=x`, { json: { physical_address } })).status).toBe(400);
  const copied = await ask('PUT', `${upload}/parts/2/copy?path=x`, {
    json: {
      physical_address,
      copy_source: { repository, ref: 'main', path: 'dir/a.txt', range: 'bytes=0-2' },
    },
  });
  expect([copied.status, copied.text]).toEqual([204, '']);
  expect(copied.headers.get('etag')).toMatch(/^[0-9a-f]{32}$/);
  const none = await ask('PUT', `${upload}?path=x`, { json: { physical_address, parts: [] } });
  expect([none.status, none.body.message]).toEqual([400, 'parts are required']);
  expect((await ask('DELETE', `${upload}?path=x`, { json: { physical_address } })).status).toBe(204);
});
