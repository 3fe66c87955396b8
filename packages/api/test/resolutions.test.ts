import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { authorization, basic, startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
let made = 0;

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
});
afterAll(() => api.stop());

interface Meeting {
  readonly repository: string;
  readonly merge: string;
  readonly pins: { readonly expected_source: string; readonly expected_destination: string };
}

/** dev and main changed `a`, `b` and `c` in different ways. */
async function meet(): Promise<Meeting> {
  made += 1;
  const repository = `/repositories/steered-${made}`;
  await ask('POST', '/repositories', {
    json: { name: `steered-${made}`, storage_namespace: `mem://steered-${made}` },
  });
  const write = async (branch: string, text: string): Promise<string> => {
    for (const path of ['a', 'b', 'c']) {
      await ask('POST', `${repository}/branches/${branch}/objects?path=${path}`, {
        body: `${path} of ${text}`,
      });
    }
    const committed = await ask('POST', `${repository}/branches/${branch}/commits`, {
      json: { message: text },
    });
    return committed.body.id as string;
  };
  await write('main', 'base');
  await ask('POST', `${repository}/branches`, { json: { name: 'dev', source: 'main' } });
  const pins = {
    expected_source: await write('dev', 'dev'),
    expected_destination: await write('main', 'main'),
  };
  return { repository, merge: `${repository}/refs/dev/merge/main`, pins };
}

async function textOf(repository: string, path: string): Promise<string> {
  const answer = await fetch(`${api.url}${repository}/refs/main/objects?path=${path}`, {
    headers: { authorization },
  });
  return answer.text();
}

test('conflicts are listed, previewed and settled with an upload', async () => {
  const { repository, merge, pins } = await meet();
  const listed = await ask('GET', `${merge}/conflicts?amount=2`);
  expect(listed.body).toMatchObject({
    source_commit_id: pins.expected_source,
    destination_commit_id: pins.expected_destination,
    pagination: { has_more: true, next_offset: 'b' },
    results: [
      { path: 'a', kind: 'both_changed', base: { size_bytes: 9 }, source: {}, destination: {} },
      { path: 'b' },
    ],
  });
  const scratch = await ask('POST', `${repository}/branches/main/objects/scratch?path=b`, {
    body: 'of both',
  });
  expect(scratch.status).toBe(201);
  const resolutions = [
    { path: 'a', take: 'source' },
    { path: 'b', take: 'object', object: scratch.body },
    { glob: 'c*', take: 'destination' },
  ];
  const preview = await ask('POST', `${merge}/preview`, { json: { ...pins, resolutions } });
  expect(preview.body).toMatchObject({
    outcome: 'clean',
    conflicts: { total: 3, unresolved: 0, source: 1, destination: 1, object: 1 },
    results: [],
  });
  const merged = await ask('POST', merge, { json: { ...pins, resolutions } });
  expect(merged.status).toBe(200);
  expect(merged.body.resolved).toEqual({ source: 1, destination: 1, object: 1 });
  expect(await Promise.all(['a', 'b', 'c'].map((path) => textOf(repository, path)))).toEqual([
    'a of dev',
    'of both',
    'c of main',
  ]);
  const taken = await ask('GET', `${repository}/commits/${String(merged.body.reference)}/resolutions`);
  expect(taken.body.results).toMatchObject([
    { path: 'a', taken: 'source' },
    { path: 'b', taken: 'object' },
    { path: 'c', taken: 'destination' },
  ]);
  expect((await ask('GET', `${repository}/commits/${pins.expected_source}/resolutions`)).status).toBe(404);
  const again = await ask('POST', merge, { json: { ...pins, resolutions } });
  expect(again.status).toBe(412);
  expect(again.body.moved).toEqual({
    destination: { expected: pins.expected_destination, actual: merged.body.reference },
  });
});

test('a stream holds all of them, and says that it is whole', async () => {
  const { merge } = await meet();
  const answer = await fetch(`${api.url}${merge}/conflicts?prefix=b`, {
    headers: { authorization, accept: 'application/x-ndjson' },
  });
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await answer.text()).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { path: 'b', kind: 'both_changed' },
    { end: true, results: 1 },
  ]);
});

test('a merge that says nothing of resolutions is answered as ever', async () => {
  const { merge } = await meet();
  const plain = await ask('POST', merge, { json: {} });
  expect([plain.status, plain.body]).toEqual([409, { reference: '', message: 'conflict found' }]);
  const won = await ask('POST', merge, { json: { strategy: 'source-wins' } });
  expect(Object.keys(won.body)).toEqual(['reference']);
});

test('what nothing settles is named to who asked for it', async () => {
  const { merge, pins } = await meet();
  const refused = await ask('POST', merge, { json: { ...pins, resolutions: [{ path: 'a', take: 'base' }] } });
  expect(refused.status).toBe(409);
  expect(refused.body).toMatchObject({
    reference: '',
    unresolved: 2,
    has_more: false,
    results: [{ path: 'b' }, { path: 'c' }],
  });
});

test('a pull request merged by strategy or resolutions is merged, with its commit', async () => {
  for (const by of ['strategy', 'resolutions'] as const) {
    const { repository, pins } = await meet();
    const { body } = await ask('POST', `${repository}/pulls`, {
      json: { title: 't', source_branch: 'dev', destination_branch: 'main' },
    });
    const pull = `${repository}/pulls/${String(body.id)}`;
    expect((await ask('PUT', `${pull}/merge`)).status).toBe(409);
    const json =
      by === 'strategy'
        ? { strategy: 'source-wins', message: 'why', squash_merge: true }
        : { ...pins, resolutions: [{ prefix: '', take: 'source' }], message: 'why' };
    const merged = await ask('PUT', `${pull}/merge`, { json });
    expect(merged.status).toBe(200);
    expect((await ask('GET', pull)).body).toMatchObject({
      status: 'merged',
      merged_commit_id: merged.body.reference,
    });
    const commit = await ask('GET', `${repository}/commits/${String(merged.body.reference)}`);
    expect(commit.body.message).toBe('why');
    expect(commit.body.parents).toHaveLength(by === 'strategy' ? 1 : 2);
  }
});

test('cherry-pick and revert take the same', async () => {
  const { repository, pins } = await meet();
  const { expected_source: ref, expected_destination } = pins;
  const branch = `${repository}/branches/main`;
  expect((await ask('GET', `${branch}/cherry-pick/conflicts?ref=dev`)).body.results).toHaveLength(3);
  const resolutions = [{ prefix: '', take: 'source' }];
  const picked = await ask('POST', `${branch}/cherry-pick`, {
    json: { ref, expected_destination, resolutions },
  });
  expect(picked.status).toBe(201);
  expect(
    (await ask('GET', `${branch}/revert/conflicts?ref=${expected_destination}`)).body.results,
  ).toHaveLength(3);
  const reverted = await ask('POST', `${branch}/revert`, {
    json: { ref: expected_destination, parent_number: 0, strategy: 'dest-wins' },
  });
  // Everything of it was replaced meanwhile: nothing is left to undo.
  expect(reverted.status).toBe(400);
});

test.each([
  [{ path: 'a', take: 'ours' }, 400],
  [{ path: 'a' }, 400],
  [{ path: 'a', glob: 'a', take: 'source' }, 400],
  [{ glob: '{a', take: 'source' }, 400],
  [{ path: 'a', take: 'source', object: { physical_address: 'x', checksum: 'x', size_bytes: 1 } }, 400],
  [{ path: 'none', take: 'source' }, 400],
  [{ path: 'a', take: 'source', conflict_id: '0'.repeat(32) }, 412],
])('%o is answered %i', async (resolution, status) => {
  const { merge, pins } = await meet();
  for (const place of [merge, `${merge}/preview`]) {
    const answer = await fetch(`${api.url}${place}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ ...pins, resolutions: [resolution] }),
    });
    expect(answer.status).toBe(status);
  }
});

test('who may merge only chooses between the sides; writing or deleting something else needs that right', async () => {
  const { repository, merge, pins } = await meet();
  const name = repository.split('/').at(-1) ?? '';
  const arn = `arn:svc:fs:::repository/${name}`;
  await ask('POST', '/auth/users', { json: { id: 'merger' } });
  const statement = [
    { effect: 'allow', action: ['fs:CreateCommit'], resource: `${arn}/branch/main` },
    { effect: 'allow', action: ['fs:WriteObject'], resource: `${arn}/object/a` },
    { effect: 'allow', action: ['fs:DeleteObject'], resource: `${arn}/object/b` },
  ];
  await ask('POST', '/auth/policies', { json: { id: 'merging', statement } });
  await ask('PUT', '/auth/users/merger/policies/merging');
  const { body } = await ask('POST', '/auth/users/merger/credentials');
  const merger = checkedClient(
    api.url,
    basic(body.access_key_id as string, body.secret_access_key as string),
  );
  const settled = async (...resolutions: object[]): Promise<number> =>
    (await merger('POST', merge, { json: { ...pins, resolutions } })).status;
  const rest = { prefix: '', take: 'destination' };
  expect(await settled({ path: 'b', take: 'base' }, rest)).toBe(401);
  expect(await settled({ path: 'a', take: 'delete' }, rest)).toBe(401);
  expect(await settled({ prefix: 'a', take: 'base' }, rest)).toBe(401);
  expect(await settled({ glob: 'b', take: 'delete' }, rest)).toBe(401);
  expect(await textOf(repository, 'a')).toBe('a of main');
  expect(await settled({ path: 'a', take: 'base' }, { path: 'b', take: 'delete' }, rest)).toBe(200);
  expect(await textOf(repository, 'a')).toBe('a of base');
});
