import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
let first: string;
const actor = { committer: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  s3 = gateway.client();
  const { engine } = gateway;
  await s3.put('/repo/main/k', 'one');
  first = (await engine.commits.create({ repository: 'repo', branch: 'main', message: '1', actor })).id;
  await s3.put('/repo/main/k', 'two');
  await engine.commits.create({ repository: 'repo', branch: 'main', message: '2', actor });
});
afterAll(() => gateway.close());

it('a key of a branch at a time is read in both spellings, and says which commit it is of', async () => {
  const refs = ['main@-1', 'main@{1}', 'main@{commit 2099-01-01}~1', 'main@c20990101~1'];
  for (const ref of refs) {
    const reply = await s3.get(`/repo/${ref}/k`);
    expect([ref, reply.status, reply.text]).toEqual([ref, 200, 'one']);
    expect(reply.headers['x-svc-commit']).toBe(first);
  }
  expect((await s3.get('/repo/main@now/k')).text).toBe('two');
  expect((await s3.get('/repo/main/k')).headers['x-svc-commit']).toBeUndefined();
});

it('a time that nobody can answer is no key, and an error when it is listed', async () => {
  for (const ref of ['main@-9', 'main@20261301', 'main@2001-01-01']) {
    expect([ref, (await s3.get(`/repo/${ref}/k`)).xml('Code')]).toEqual([ref, 'NoSuchKey']);
    const listed = await s3.get('/repo', { query: `list-type=2&prefix=${encodeURIComponent(ref)}%2F` });
    expect([ref, listed.status, listed.xml('Code')]).toEqual([ref, 400, 'InvalidArgument']);
  }
  const listed = await s3.get('/repo', { query: 'list-type=2&prefix=main%40-1%2F' });
  expect(listed.xml('Key')).toBe('main@-1/k');
  expect((await s3.get('/repo', { query: 'list-type=2&prefix=nobody%2F' })).status).toBe(200);
});

it('copies from a time, and writes to none', async () => {
  const copied = await s3.put('/repo/main/old', '', { headers: { 'x-amz-copy-source': '/repo/main@-1/k' } });
  expect(copied.status).toBe(200);
  expect((await s3.get('/repo/main/old')).text).toBe('one');
  expect((await s3.put('/repo/main@-1/k', 'x')).status).toBeGreaterThanOrEqual(400);
});
