import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
const base = '/repositories/history';
const heads: string[] = [];

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'history', storage_namespace: 'mem://history' } });
  for (const content of ['1', '2', '3']) {
    await ask('POST', `${base}/branches/main/objects?path=a`, { body: content });
    heads.push(
      (await ask('POST', `${base}/branches/main/commits`, { json: { message: 'm' } })).body.id as string,
    );
  }
});
afterAll(() => api.stop());

test('reads at a time name the commit they read, others do not', async () => {
  for (const path of ['/objects/ls?prefix=', '/objects/stat?path=a', '/objects?path=a', '/commits']) {
    const then = await ask('GET', `${base}/refs/main@-1${path}`);
    expect([path, then.status, then.headers.get('x-svc-commit')]).toEqual([
      path,
      200,
      heads[heads.length - 2],
    ]);
    expect((await ask('GET', `${base}/refs/main${path}`)).headers.get('x-svc-commit')).toBeNull();
  }
  const early = await ask('GET', `${base}/refs/main@20200101/objects/ls`);
  expect([early.status, early.headers.get('x-svc-commit')]).toEqual([404, null]);
});

test('a deleted branch is listed, read at its time, and brought back', async () => {
  await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main@{1}' } });
  expect((await ask('DELETE', `${base}/branches/dev`)).status).toBe(204);
  const deleted = await ask('GET', `${base}/deleted_refs`);
  expect(deleted.body.results).toMatchObject([
    { type: 'branch', id: 'dev', commit_id: heads[1], deleted_by: 'admin', hidden: false },
  ]);
  const gone = await ask('GET', `${base}/refs/${encodeURIComponent('dev@{1}')}/resolve`);
  const [deletion, creation] = (await ask('GET', `${base}/reflog?ref=dev`)).body.results as {
    id: string;
    time: string;
  }[];
  expect(deletion).toMatchObject({ kind: 'delete' });
  const commit = (await ask('GET', `${base}/commits/${heads[1]}`)).body;
  expect([gone.status, gone.body]).toEqual([
    200,
    { kind: 'commit', commit_id: heads[1], commit, move_id: creation?.id, time: creation?.time },
  ]);
  const undelete = (json: object) => ask('POST', `${base}/undelete`, { json });
  const back = await undelete({ type: 'branch', id: 'dev' });
  expect([back.status, back.body]).toMatchObject([201, { type: 'branch', id: 'dev', commit_id: heads[1] }]);
  expect((await undelete({ type: 'branch', id: 'dev' })).status).toBe(409);
  const never = await undelete({ type: 'tag', id: 'never' });
  expect([never.status, never.body.message]).toEqual([404, "no deleted tag 'never'"]);
  expect((await undelete({ type: 'branch', id: 'dev', as: 'x', move_id: 'x' })).status).toBe(400);
  const move = await ask('GET', `${base}/reflog/${String(back.body.move_id)}`);
  expect(move.body).toMatchObject({ kind: 'undelete', ref_type: 'branch', ref_id: 'dev', user: 'admin' });
  expect(move.body.request_id).toMatch(/./);
});

test('the log is listed in pages and filtered', async () => {
  const page = await ask('GET', `${base}/reflog?ref=main&amount=2`);
  expect(page.body.results.map((move: { kind: string }) => move.kind)).toEqual(['commit', 'commit']);
  expect(page.body.pagination).toMatchObject({ has_more: true, results: 2 });
  const next = String(page.body.pagination.next_offset);
  const rest = await ask('GET', `${base}/reflog?ref=main&after=${next}`);
  expect(rest.body.results).toMatchObject([
    { kind: 'commit', new_commit_id: heads[0] },
    { kind: 'create', restorable: false },
  ]);
  const created = await ask('GET', `${base}/reflog?kind=create&kind=delete&ref_type=branch&user=admin`);
  expect(created.body.results.map((move: { kind: string }) => move.kind)).toEqual([
    'delete',
    'create',
    'create',
  ]);
  for (const bad of ['after=x', 'kind=none', 'since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z']) {
    expect([bad, (await ask('GET', `${base}/reflog?${bad}`)).status]).toEqual([bad, 400]);
  }
  expect((await ask('GET', `${base}/reflog/${'0'.repeat(26)}`)).status).toBe(404);
  const soon = new Date().toISOString();
  expect((await ask('DELETE', `${base}/reflog?before=${soon}`)).status).toBe(400);
  expect((await ask('DELETE', `${base}/reflog?before=2020-01-01T00:00:00Z`)).status).toBe(204);
});

test('a branch is rolled back, and the retention is set', async () => {
  const rollback = (json: object) => ask('POST', `${base}/branches/main/rollback`, { json });
  const done = await rollback({ to: heads[0] });
  expect([done.status, done.body]).toMatchObject([200, { previous_commit_id: heads[2] }]);
  expect((await rollback({ to: heads[0] })).status).toBe(400);
  const reset = await rollback({ to: done.body.move_id as string, mode: 'reset' });
  expect(reset.body).toMatchObject({
    commit_id: heads[2],
    previous_commit_id: done.body.commit_id as string,
  });
  expect((await ask('GET', `${base}/settings/reflog`)).body).toEqual({ retention_days: null });
  expect((await ask('PUT', `${base}/settings/reflog`, { json: { retention_days: 7 } })).status).toBe(204);
  expect((await ask('GET', `${base}/settings/reflog`)).body).toEqual({ retention_days: 7 });
  expect((await ask('PUT', `${base}/settings/reflog`, { json: { retention_days: 3651 } })).status).toBe(400);
  expect((await ask('PUT', `${base}/settings/reflog`, { json: { retention_days: null } })).status).toBe(204);
});

test('whoever may see neither branches nor tags sees no log', async () => {
  const statement = [{ effect: 'allow', action: ['fs:ReadTag', 'fs:ReadCommit'], resource: '*' }];
  await ask('POST', '/auth/policies', { json: { id: 'tags-only', statement } });
  await ask('POST', '/auth/users', { json: { id: 'guest' } });
  await ask('PUT', '/auth/users/guest/policies/tags-only');
  const key = (await ask('POST', '/auth/users/guest/credentials')).body as Record<string, string>;
  const basic = Buffer.from(`${key['access_key_id']}:${key['secret_access_key']}`).toString('base64');
  const guest = checkedClient(api.url, `Basic ${basic}`);
  expect((await guest('GET', `${base}/reflog`)).status).toBe(401);
  expect((await guest('GET', `${base}/reflog?ref=main&ref_type=branch`)).status).toBe(401);
  expect((await guest('GET', `${base}/deleted_refs`)).status).toBe(401);
  expect((await guest('POST', `${base}/undelete`, { json: { type: 'branch', id: 'dev' } })).status).toBe(401);
  expect((await guest('GET', `${base}/refs/main/resolve`)).status).toBe(200);
  await ask('POST', `${base}/tags`, { json: { id: 'v1', ref: 'main' } });
  const own = await guest('GET', `${base}/reflog?ref=v1`);
  expect(own.body.results).toMatchObject([{ kind: 'create', ref_type: 'tag', ref_id: 'v1' }]);
});
