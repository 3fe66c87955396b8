import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
let counter = 0;
let base = '';
let name = '';

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
});

afterAll(() => api.stop());

beforeEach(async () => {
  name = `versions-${counter++}`;
  base = `/repositories/${name}`;
  const created = await ask('POST', '/repositories', { json: { name, storage_namespace: `mem://${name}` } });
  expect(created.status).toBe(201);
});

async function put(path: string, content: string, branch = 'main'): Promise<void> {
  const { status } = await ask('POST', `${base}/branches/${branch}/objects?path=${path}`, { body: content });
  expect(status).toBe(201);
}

async function commit(message: string, branch = 'main'): Promise<string> {
  const { status, body } = await ask('POST', `${base}/branches/${branch}/commits`, { json: { message } });
  expect([status, body.message]).toEqual([201, message]);
  return body.id as string;
}

async function paths(url: string): Promise<string[]> {
  const { body } = await ask('GET', url);
  return body.results.map((item: { type?: string; path: string }) =>
    `${item.type ?? ''} ${item.path}`.trim(),
  );
}

test('repositories are created, shown, listed and deleted', async () => {
  const shown = await ask('GET', base);
  expect(shown.body).toMatchObject({ id: name, default_branch: 'main', read_only: false, storage_id: '' });
  const listed = await ask('GET', `/repositories?search=${name.slice(2)}&amount=1`);
  expect(listed.body.results[0].id).toContain('rsions');
  const twin = await ask('POST', '/repositories', { json: { name, storage_namespace: 'mem://elsewhere' } });
  expect(twin.status).toBe(409);
  const badName = await ask('POST', '/repositories', {
    json: { name: 'UPPER', storage_namespace: 'mem://x' },
  });
  expect([badName.status, badName.body.message]).toEqual([
    400,
    'request body has an error: field "name": string doesn\'t match the regular expression "^[a-z0-9][a-z0-9-]{2,62}$"',
  ]);
  expect((await ask('DELETE', base)).status).toBe(204);
  const gone = await ask('GET', base);
  expect([gone.status, gone.body.message]).toEqual([404, 'repository not found']);
});

test('metadata of a repository', async () => {
  expect((await ask('GET', `${base}/metadata`)).body).toEqual({});
  expect((await ask('POST', `${base}/metadata`, { json: { metadata: { a: '1', b: '2' } } })).status).toBe(
    204,
  );
  expect((await ask('DELETE', `${base}/metadata`, { json: { keys: ['a', 'none'] } })).status).toBe(204);
  expect((await ask('GET', `${base}/metadata`)).body).toEqual({ b: '2' });
});

test('branches, tags, commits and the log', async () => {
  await put('a', '1');
  const first = await commit('first');
  expect((await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } })).text).toBe(first);
  const twin = await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } });
  expect(twin.status).toBe(409);
  const bad = await ask('POST', `${base}/branches`, { json: { name: '-x', source: 'main' } });
  expect(bad.status).toBe(400);
  expect((await ask('GET', `${base}/branches/dev`)).body).toEqual({ id: 'dev', commit_id: first });
  expect(
    (await ask('GET', `${base}/branches`)).body.results.map((branch: { id: string }) => branch.id),
  ).toEqual(['dev', 'main']);
  const tag = await ask('POST', `${base}/tags`, { json: { id: 'v1.0', ref: 'dev' } });
  expect([tag.status, tag.body]).toEqual([201, { id: 'v1.0', commit_id: first }]);
  expect((await ask('GET', `${base}/tags/v1.0`)).status).toBe(200);
  expect((await ask('DELETE', `${base}/tags/v1.0`)).status).toBe(204);
  expect((await ask('GET', `${base}/tags/v1.0`)).status).toBe(404);

  const log = await ask('GET', `${base}/refs/main/commits`);
  expect(log.body.results.map((entry: { message: string }) => entry.message)).toEqual([
    'first',
    'Repository created',
  ]);
  expect(log.body.results[0]).toMatchObject({ committer: 'admin', metadata: {}, generation: 2, version: 1 });
  expect((await ask('GET', `${base}/branches/main/commits`)).body).toEqual(log.body);
  expect((await ask('GET', `${base}/commits/${first.slice(0, 12)}`)).body.id).toBe(first);
  expect((await ask('GET', `${base}/commits/main~99`)).status).toBe(404);
  expect((await ask('GET', `${base}/commits/main%5Ea`)).status).toBe(400);
  const empty = await ask('POST', `${base}/branches/main/commits`, { json: { message: 'again' } });
  expect([empty.status, empty.body.message]).toEqual([400, 'commit: no changes']);
  expect((await ask('DELETE', `${base}/branches/main`)).status).toBe(403);
  expect((await ask('DELETE', `${base}/branches/dev`)).status).toBe(204);
});

test('diffs in every form', async () => {
  await put('a', '1');
  await put('b', '1');
  await commit('base');
  await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } });
  await put('b', '2', 'dev');
  await put('dir/c', '1', 'dev');
  await ask('DELETE', `${base}/branches/dev/objects?path=a`);
  const expected = ['removed a', 'changed b', 'added dir/c'];
  expect(await paths(`${base}/branches/dev/diff`)).toEqual(expected);
  expect(await paths(`${base}/refs/main/diff/dev%24?type=two_dot`)).toEqual(expected);
  expect(await paths(`${base}/refs/main/diff/dev%24`)).toEqual(expected);
  await commit('work', 'dev');
  expect(await paths(`${base}/branches/dev/diff`)).toEqual([]);
  expect(await paths(`${base}/refs/main/diff/dev`)).toEqual(expected);
  const folded = await ask('GET', `${base}/refs/main/diff/dev?delimiter=%2F&include_right_stats=true`);
  expect(folded.body.results[2]).toEqual({
    type: 'prefix_changed',
    path: 'dir/',
    path_type: 'common_prefix',
  });
  expect(folded.body.results[1].right).toMatchObject({ metadata: {} });
});

test('merges, conflicts, strategies and merge bases', async () => {
  await put('a', '1');
  const root = await commit('base');
  await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } });
  await put('a', '2', 'dev');
  const source = await commit('dev', 'dev');
  await put('a', '3');
  const destination = await commit('main');
  const merge = `${base}/refs/dev/merge/main`;
  expect((await ask('GET', merge)).body).toEqual({
    source_commit_id: source,
    destination_commit_id: destination,
    base_commit_id: root,
  });
  const conflict = await ask('POST', merge);
  expect([conflict.status, conflict.body]).toEqual([409, { reference: '', message: 'conflict found' }]);
  const pull = await ask('POST', `${base}/pulls`, {
    json: { title: '', source_branch: 'dev', destination_branch: 'main' },
  });
  const refused = await ask('PUT', `${base}/pulls/${pull.body.id}/merge`);
  expect([refused.status, refused.body]).toEqual([409, { reference: '', message: 'conflict found' }]);
  expect((await ask('GET', `${base}/pulls/${pull.body.id}`)).body.status).toBe('open');
  expect((await ask('POST', merge, { json: { strategy: 'mine' } })).status).toBe(400);
  const merged = await ask('POST', merge, { json: { strategy: 'source-wins', message: 'merge' } });
  expect(merged.status).toBe(200);
  const shown = await ask('GET', `${base}/commits/${merged.body.reference}`);
  expect(shown.body).toMatchObject({
    parents: [destination, source],
    metadata: { '.lakefs.merge.strategy': 'source-wins' },
  });
  expect((await ask('GET', `${base}/refs/main/objects?path=a`)).text).toBe('2');
  expect((await ask('POST', merge)).status).toBe(400);
});

test('revert, cherry-pick and resets', async () => {
  await put('a', '1');
  const first = await commit('first');
  await put('b', '1');
  const second = await commit('second');
  const reverted = await ask('POST', `${base}/branches/main/revert`, {
    json: { ref: second, parent_number: 0 },
  });
  expect(reverted.status).toBe(204);
  expect(await paths(`${base}/refs/main/objects/ls`)).toEqual(['a']);
  const picked = await ask('POST', `${base}/branches/main/cherry-pick`, { json: { ref: second } });
  expect(picked.status).toBe(201);
  expect(picked.body.metadata).toMatchObject({ 'cherry-pick-origin': second });
  await put('c', '1');
  expect((await ask('PUT', `${base}/branches/main/hard_reset?ref=${first}`)).status).toBe(400);
  expect((await ask('PUT', `${base}/branches/main`, { json: { type: 'reset' } })).status).toBe(204);
  expect((await ask('PUT', `${base}/branches/main/hard_reset?ref=${first}`)).status).toBe(204);
  expect(await paths(`${base}/refs/main/objects/ls`)).toEqual(['a']);
});

test('branch protection with its etag', async () => {
  const rules = `${base}/settings/branch_protection`;
  const none = await ask('GET', rules);
  expect([none.body, none.headers.get('etag')]).toEqual([[], '']);
  expect(
    (await ask('PUT', rules, { json: [{ pattern: 'stable_*' }], headers: { 'if-match': '' } })).status,
  ).toBe(204);
  const set = await ask('GET', rules);
  expect(set.body).toEqual([{ pattern: 'stable_*' }]);
  const etag = set.headers.get('etag') ?? '';
  expect((await ask('PUT', rules, { json: [], headers: { 'if-match': 'stale' } })).status).toBe(412);
  await ask('POST', `${base}/branches`, { json: { name: 'stable_1', source: 'main' } });
  const blocked = await ask('POST', `${base}/branches/stable_1/objects?path=a`, { body: 'x' });
  expect([blocked.status, blocked.body.message]).toEqual([403, 'cannot write to protected branch']);
  expect((await ask('PUT', rules, { json: [], headers: { 'if-match': `"${etag}"` } })).status).toBe(204);
  expect((await ask('POST', `${base}/branch_protection`, { json: { pattern: 'x' } })).status).toBe(204);
  const unknown = await ask('DELETE', `${base}/branch_protection`, { json: { pattern: 'y' } });
  expect([unknown.status, unknown.text]).toEqual([404, '']);
});

test('retention rules, new and old paths', async () => {
  expect((await ask('GET', `${base}/settings/gc_rules`)).status).toBe(404);
  const rules = { default_retention_days: 7, branches: [{ branch_id: 'main', retention_days: 9 }] };
  expect((await ask('PUT', `${base}/settings/gc_rules`, { json: rules })).status).toBe(204);
  expect((await ask('GET', `${base}/gc/rules`)).body).toEqual(rules);
  expect((await ask('DELETE', `${base}/gc/rules`)).status).toBe(204);
  const negative = await ask('POST', `${base}/gc/rules`, {
    json: { default_retention_days: -1, branches: [] },
  });
  expect(negative.status).toBe(400);
  expect((await ask('GET', '/config/garbage-collection')).body).toEqual({ grace_period: 86400 });
  const prepared = await ask('POST', `${base}/gc/prepare_commits`);
  expect(prepared.status).toBe(201);
});

test('pull requests', async () => {
  await ask('POST', `${base}/branches`, { json: { name: 'dev', source: 'main' } });
  await put('a', '1', 'dev');
  await commit('work', 'dev');
  const created = await ask('POST', `${base}/pulls`, {
    json: { title: 'Add a', source_branch: 'dev', destination_branch: 'main' },
  });
  expect(created.status).toBe(201);
  const pull = `${base}/pulls/${created.body.id}`;
  expect((await ask('GET', pull)).body).toMatchObject({ status: 'open', description: '', author: 'admin' });
  expect((await ask('PATCH', pull, { json: { description: 'why' } })).status).toBe(204);
  expect((await ask('GET', `${base}/pulls?status=open`)).body.results[0].description).toBe('why');
  const merged = await ask('PUT', `${pull}/merge`);
  expect(merged.status).toBe(200);
  expect((await ask('GET', pull)).body).toMatchObject({
    status: 'merged',
    merged_commit_id: merged.body.reference,
  });
  expect((await ask('PUT', `${pull}/merge`)).status).toBe(400);
  expect((await ask('GET', `${base}/pulls/nonsense`)).status).toBe(400);
});

test('dump and restore through tasks', async () => {
  await put('a', '1');
  const head = await commit('first');
  const submitted = await ask('POST', `${base}/dump`);
  expect(submitted.status).toBe(202);
  let status = await ask('GET', `${base}/dump?task_id=${submitted.body.id}`);
  for (let tries = 0; tries < 200 && status.body.done !== true; tries++) {
    await new Promise((resolve) => setImmediate(resolve));
    status = await ask('GET', `${base}/dump?task_id=${submitted.body.id}`);
  }
  expect(status.body).toMatchObject({ done: true });
  await ask('DELETE', base);
  const bare = await ask('POST', '/repositories?bare=true', {
    json: { name, storage_namespace: `mem://${name}` },
  });
  expect(bare.body).not.toHaveProperty('read_only');
  expect((await ask('PUT', `${base}/refs/restore`, { json: status.body.refs })).status).toBe(200);
  expect((await ask('GET', `${base}/branches/main`)).body.commit_id).toBe(head);
  expect((await ask('GET', `${base}/dump?task_id=invalid`)).status).toBe(404);
});

test('metadata files are located and read', async () => {
  await put('a', '1');
  const { body } = await ask('GET', `${base}/commits/${await commit('x')}`);
  const located = await ask('GET', `${base}/metadata/meta_range/${body.meta_range_id}`);
  expect(located.body.location).toBe(`_svc/${body.meta_range_id}`);
  expect(located.headers.get('location')).toBe(located.body.location);
  const read = await ask('GET', `${base}/metadata/object/meta_range/${body.meta_range_id}`);
  expect([read.status, read.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect((await ask('GET', `${base}/metadata/object/nothing/${body.meta_range_id}`)).status).toBe(400);
});

test('features that are not there say so', async () => {
  const runs = await ask('GET', `${base}/actions/runs`);
  expect([runs.status, runs.body.message]).toEqual([501, 'Not Implemented']);
  expect((await ask('POST', '/auth/password/forgot', { json: { email: 'a@b.c' } })).status).toBe(501);
});
