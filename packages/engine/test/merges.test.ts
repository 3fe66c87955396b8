import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, commit, contents, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';

/** Branches base ← source, dest with the given contents; returns the repository. */
async function threeWay(engine: Engine, base: object, source: object, dest: object): Promise<string> {
  const repository = await newRepository(engine);
  await write(engine, repository, 'main', base);
  await engine.branches.create({ repository, name: 'source', source: 'main', actor });
  await write(engine, repository, 'main', dest);
  await write(engine, repository, 'source', source);
  return repository;
}

async function write(engine: Engine, repository: string, branch: string, wanted: object): Promise<void> {
  const now = await contents(engine, repository, branch);
  for (const path of Object.keys(now))
    if (!(path in wanted)) await engine.objects.delete({ repository, branch, path });
  for (const [path, content] of Object.entries(wanted))
    if (now[path] !== content) await put(engine, repository, branch, path, String(content));
  await engine.commits.create({ repository, branch, message: 'm', allowEmpty: true, actor });
}

test.each([
  ['8a', { a: '1', z: 'X' }, { a: '1' }, { a: '1', y: 'X', z: 'X' }, undefined, { a: '1', y: 'X' }],
  ['8b', { a: '1', z: 'X' }, { a: '2' }, { a: '1', y: 'X' }, undefined, { a: '2', y: 'X' }],
  [
    '9 none',
    { a: '1', m: 'X' },
    { a: '1', m: 'X', k: 'X' },
    { a: '1', m: 'X', k: 'Y' },
    undefined,
    'conflict',
  ],
  [
    '9 dest',
    { a: '1', m: 'X' },
    { a: '1', m: 'X', k: 'X' },
    { a: '1', m: 'X', k: 'Y' },
    'dest-wins',
    { a: '1', m: 'X', k: 'Y' },
  ],
  [
    '9 source',
    { a: '1', m: 'X' },
    { a: '1', m: 'X', k: 'X' },
    { a: '1', m: 'X', k: 'Y' },
    'source-wins',
    { a: '1', m: 'X', k: 'X' },
  ],
  ['10a', { k: '1' }, { k: '2' }, {}, undefined, 'conflict'],
  ['10a dest', { k: '1' }, { k: '2' }, {}, 'dest-wins', {}],
  ['10a source', { k: '1' }, { k: '2' }, {}, 'source-wins', { k: '2' }],
  ['10b', { k: '1' }, {}, { k: '2' }, undefined, 'conflict'],
  ['10b dest', { k: '1' }, {}, { k: '2' }, 'dest-wins', { k: '2' }],
  ['10b source', { k: '1' }, {}, { k: '2' }, 'source-wins', {}],
  ['11a', {}, { k: '1' }, { k: '1' }, undefined, { k: '1' }],
  ['11b', { a: '1', b: '1' }, { a: '2', b: '1' }, {}, 'source-wins', { a: '2' }],
])('merge case %s', async (_name, base, source, dest, strategy, expected) => {
  const engine = createWorld().engine();
  const repository = await threeWay(engine, base, source, dest);
  const merged = engine.merges.merge({ repository, source: 'source', destination: 'main', strategy, actor });
  if (expected === 'conflict')
    expect(await refusal(merged)).toMatchObject({
      kind: 'conflict',
      message: 'update branch main: conflict found',
    });
  else {
    await merged;
    expect(await contents(engine, repository, 'main@')).toEqual(expected);
  }
});

test('empty merges, squash, messages, dirty and malformed destinations', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const merge = (more: object = {}) =>
    engine.merges.merge({ repository, source: 'dev', destination: 'main', actor, ...more });
  expect((await refusal(merge())).message).toBe('update branch main: no changes');
  const head = (await engine.branches.get({ repository, branch: 'main' })).commitId;
  const source = (await engine.branches.get({ repository, branch: 'dev' })).commitId;
  const empty = await merge({ allowEmpty: true });
  expect(empty).toMatchObject({
    parents: [head, source],
    message: "Merge 'dev' into 'main'",
    metadata: { '.lakefs.merge.strategy': 'default' },
  });
  await merge({ force: true });
  await put(engine, repository, 'dev', 'a', '1');
  await commit(engine, repository, 'dev');
  const squashed = await merge({
    squash: true,
    metadata: { k: 'v', '.lakefs.merge.strategy': 'mine' },
    strategy: 'source-wins',
  });
  expect(squashed.parents.length).toBe(1);
  expect(squashed.metadata).toEqual({ k: 'v', '.lakefs.merge.strategy': 'source-wins' });
  for (const destination of ['main$', 'main@'])
    expect((await refusal(merge({ destination }))).message).toContain('argument destination: branch id:');
  expect((await refusal(merge({ strategy: 'mine' }))).kind).toBe('invalid');
  expect(await refusalKind(merge({ source: 'dev$' }))).toBe('invalid');
  expect(await refusalKind(merge({ destination: 'gone' }))).toBe('not_found');
  const orphan = {
    committer: '',
    message: 'orphan',
    metaRangeId: '',
    parents: [],
    metadata: {},
    version: 1,
    generation: 1,
  };
  const { commitId } = await import('@svc/encoding');
  const id = commitId({ ...orphan, creationDate: { seconds: 1, nanos: 0 } });
  await engine.commits.createRecord({ repository, commit: { ...orphan, id, creationDate: 1 } });
  // Histories that never meet are a bad request.
  expect(await refusal(merge({ source: id }))).toMatchObject({ kind: 'invalid', message: 'no merge base' });
  await put(engine, repository, 'main', 'x', '1');
  expect((await refusal(merge({ force: true }))).message).toBe('uncommitted changes (dirty branch)');
});
