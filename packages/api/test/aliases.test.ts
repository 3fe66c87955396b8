import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'sales', storage_namespace: 'mem://sales' } });
});
afterAll(() => api.stop());

test('an alias is made, swapped under a condition, rolled back, told of and deleted', async () => {
  const target = { repository: 'sales', ref: 'main' };
  const made = await ask('POST', '/aliases', { json: { name: 'prod', ...target, prefix: 't/' } });
  expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
  expect(made.body).toMatchObject({ name: 'prod', writable: true, dangling: false, created_by: 'admin' });
  expect((await ask('POST', '/aliases', { json: { name: 'prod', ...target } })).status).toBe(409);
  expect((await ask('POST', '/aliases', { json: { name: 'sales', ...target } })).status).toBe(409);
  const set = (json: object, headers = {}) => ask('PUT', '/aliases/prod', { json, headers });
  expect((await set({ ...target, pin: true }, { 'if-match': '"1"' })).body).toMatchObject({
    generation: 2,
    pinned: true,
    writable: false,
  });
  expect((await set(target, { 'if-match': '"1"' })).status).toBe(412);
  expect((await set(target, { 'if-match': 'abc' })).status).toBe(400);
  const back = await ask('POST', '/aliases/prod/rollback');
  expect([back.status, back.body.pinned, back.body.prefix]).toEqual([200, false, 't/']);
  const log = await ask('GET', '/aliases/prod/log?amount=1');
  expect(log.body).toMatchObject({ pagination: { has_more: true }, results: [{ kind: 'rollback' }] });
  expect((await ask('GET', '/aliases?repository=sales')).body.results).toHaveLength(1);
  expect((await ask('GET', '/aliases?repository=other')).body.results).toEqual([]);
  expect((await ask('DELETE', '/aliases/prod')).status).toBe(204);
  expect((await ask('GET', '/aliases/prod')).status).toBe(404);
});

test('an access key with a view opens nothing of the API', async () => {
  const view = { repository: 'sales', ref: 'main', bucket: 'mine' };
  const made = await ask('POST', '/auth/users/admin/credentials', { json: { view } });
  expect([made.status, made.body.view]).toMatchObject([201, { name: 'mine', ref: 'main' }]);
  const id = String(made.body.access_key_id);
  const asKey = async () => {
    const pair = Buffer.from(`${id}:${String(made.body.secret_access_key)}`).toString('base64');
    const answer = await fetch(`${api.url}/user`, { headers: { authorization: `Basic ${pair}` } });
    return [answer.status, await answer.text()];
  };
  expect(await asKey()).toEqual([
    401,
    '{"message":"this access key is bound to a bucket; use it with the S3 endpoint"}',
  ]);
  const login = { access_key_id: id, secret_access_key: made.body.secret_access_key };
  expect((await ask('POST', '/auth/login', { json: login })).status).toBe(401);
  const path = `/auth/users/admin/credentials/${id}`;
  expect((await ask('GET', path)).body.view).toMatchObject({ name: 'mine' });
  const changed = await ask('PUT', `${path}/view`, { json: { ...view, read_only: true } });
  expect(changed.body).toMatchObject({ generation: 2, read_only: true });
  expect((await ask('DELETE', `${path}/view`)).status).toBe(204);
  expect((await asKey())[0]).toBe(200);
  expect((await ask('GET', path)).body.view).toBeUndefined();
  expect((await ask('PUT', `${path}x/view`, { json: view })).status).toBe(404);
  expect((await ask('DELETE', path)).status).toBe(204);
});
