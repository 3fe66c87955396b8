import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
});
afterAll(() => api.stop());

test('a repository is deleted, listed with who and when, restored and purged', async () => {
  const creation = { name: 'sales', storage_namespace: 'mem://sales' };
  await ask('POST', '/repositories', { json: creation });
  expect((await ask('DELETE', '/repositories/sales')).status).toBe(204);
  expect((await ask('GET', '/repositories/sales')).status).toBe(404);
  const [deleted] = (await ask('GET', '/deleted_repositories')).body.results as { instance: string }[];
  expect(deleted).toMatchObject({
    id: 'sales',
    storage_namespace: 'mem://sales',
    default_branch: 'main',
    deleted_by: 'admin',
    delete_data: false,
  });
  const place = `/deleted_repositories/${String(deleted?.instance)}`;
  const restored = await ask('POST', `${place}/restore`);
  expect([restored.status, restored.body.id]).toEqual([201, 'sales']);
  expect((await ask('POST', `${place}/restore`)).status).toBe(404);
  expect((await ask('GET', '/repositories/sales/branches/main')).status).toBe(200);

  expect((await ask('DELETE', '/repositories/sales?delete_data=true')).status).toBe(204);
  expect((await ask('GET', '/deleted_repositories?prefix=sal')).body.results).toMatchObject([
    { delete_data: true },
  ]);
  expect((await ask('POST', `${place}/restore`)).status).toBe(201);
  await ask('DELETE', '/repositories/sales');
  expect((await ask('GET', '/deleted_repositories?prefix=sal')).body.results).toMatchObject([
    { delete_data: false },
  ]);
  expect((await ask('DELETE', place)).status).toBe(204);
  expect((await ask('DELETE', place)).status).toBe(204);
  expect((await ask('GET', '/deleted_repositories')).body.results).toEqual([]);
  expect((await ask('POST', `${place}/restore`)).status).toBe(409);
  expect((await ask('DELETE', '/deleted_repositories/none')).status).toBe(404);
});
