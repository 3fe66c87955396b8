import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, commit, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';

/** `name: parents` per commit, made with commit records and branches. */
async function graph(
  engine: Engine,
  repository: string,
  parents: Record<string, string[]>,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  let date = 1_600_000_000;
  for (const [name, parentNames] of Object.entries(parents)) {
    date += 60;
    ids[name] = await addRecord(
      engine,
      repository,
      name,
      parentNames.map((parent) => ids[parent]!),
      date,
    );
    await engine.branches.create({ repository, name, source: ids[name], actor });
  }
  return ids;
}

async function addRecord(
  engine: Engine,
  repository: string,
  message: string,
  parents: string[],
  creationDate: number,
): Promise<string> {
  const { commitId } = await import('@svc/encoding');
  let generation = 1;
  for (const ref of parents) {
    generation = Math.max(generation, 1 + (await engine.commits.get({ repository, ref })).generation);
  }
  const fields = { committer: 'x', message, metaRangeId: '', parents, metadata: {}, version: 1, generation };
  const id = commitId({ ...fields, creationDate: { seconds: creationDate, nanos: 0 } });
  await engine.commits.createRecord({ repository, commit: { ...fields, id, creationDate } });
  return id;
}

test('malformed refs are invalid, missing ones not found; signs are refused', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const resolve = (ref: string) => engine.refs.resolve({ repository, ref });
  for (const bad of [
    'main@1',
    'main$^',
    '^^3',
    'main^a',
    'main^-1',
    'main~-1',
    'main~+1',
    'main@$',
    'main x',
    '~1',
    '@',
  ]) {
    expect([bad, await refusalKind(resolve(bad))]).toEqual([bad, 'invalid']);
  }
  for (const missing of ['main~200', 'nothing', 'nothing~1']) {
    expect([missing, await refusalKind(resolve(missing))]).toEqual([missing, 'not_found']);
  }
  expect(await refusalKind(resolve('main^7'))).toBe('invalid');
  expect(await refusalKind(resolve(''))).toBe('invalid');
  // A malformed ref of a commit is a bad request.
  expect(await refusalKind(engine.commits.get({ repository, ref: 'main^x' }))).toBe('invalid');
  expect((await refusal(engine.commits.get({ repository, ref: 'gone' }))).message).toBe('commit not found');
  const head = await resolve('main');
  expect(head).toMatchObject({ kind: 'branch', staged: true, branch: 'main' });
  expect(await resolve('main@')).toMatchObject({ kind: 'branch', staged: false, commitId: head.commitId });
  expect(await resolve('main~0')).toMatchObject({ kind: 'commit', staged: false, commitId: head.commitId });
  expect((await resolve('HEAD~1')).commitId).toBe((await resolve('main~1')).commitId);
  // A prefix in upper case is the same prefix.
  expect((await resolve(head.commitId.slice(0, 20).toUpperCase())).commitId).toBe(head.commitId);
  expect((await resolve(head.commitId.toUpperCase())).commitId).toBe(head.commitId);
});

test('a branch beats a commit prefix, a full commit id beats a branch, an ambiguous prefix is not found', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const ids: string[] = [];
  for (let index = 0; index < 40; index += 1) {
    ids.push(
      (
        await engine.commits.create({
          repository,
          branch: 'main',
          message: `m${index}`,
          allowEmpty: true,
          actor,
        })
      ).id,
    );
  }
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id[0]!, (counts.get(id[0]!) ?? 0) + 1);
  const ambiguous = [...counts].find(([, count]) => count > 1)![0];
  expect(await refusalKind(engine.refs.resolve({ repository, ref: ambiguous }))).toBe('not_found');
  const target = ids[3]!;
  const prefix = target.slice(0, 12);
  expect((await engine.refs.resolve({ repository, ref: prefix })).commitId).toBe(target);
  await engine.branches.create({ repository, name: prefix, source: ids[7]!, actor });
  expect((await engine.refs.resolve({ repository, ref: prefix })).commitId).toBe(ids[7]);
  expect(await refusalKind(engine.branches.create({ repository, name: target, source: 'main', actor }))).toBe(
    'conflict',
  );
});

test('the sample graph of git rev-parse', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const ids = await graph(engine, repository, {
    G: [],
    H: [],
    I: [],
    J: [],
    D: ['G', 'H'],
    E: ['I'],
    F: ['J'],
    B: ['D', 'E', 'F'],
    C: ['F'],
    A: ['B', 'C'],
  });
  const at = async (ref: string) => (await engine.refs.resolve({ repository, ref })).commitId;
  expect(await at('A^0')).toBe(ids['A']);
  expect(await at('A^2')).toBe(ids['C']);
  expect(await at('A^^3')).toBe(ids['F']);
  expect(await at('A^^3^')).toBe(ids['J']);
  expect(await at('A~2^2')).toBe(ids['H']);
  expect(await at('A~3')).toBe(ids['G']);
});

test('merge bases of crossing, nested and unrelated histories', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const ids = await graph(engine, repository, {
    c0: [],
    c1: ['c0'],
    c2: ['c0'],
    c3: ['c1', 'c2'],
    c4: ['c2', 'c1'],
    d1: ['c0'],
    d2: ['d1'],
    d3: ['d2'],
    d4: ['d3'],
    x: ['d4', 'd1'],
    y: ['d2'],
    other: [],
  });
  const base = async (source: string, destination: string) =>
    (await engine.merges.findBase({ repository, source, destination })).baseCommitId;
  expect([ids['c1'], ids['c2']]).toContain(await base('c3', 'c4'));
  expect(await base('x', 'y')).toBe(ids['d2']);
  expect(await base('x', 'x')).toBe(ids['x']);
  expect(await base('d4', 'd1')).toBe(ids['d1']);
  // No common ancestor is a bad request, not a failure.
  const none = await refusal(engine.merges.findBase({ repository, source: 'c3', destination: 'other' }));
  expect([none.kind, none.message]).toEqual(['invalid', 'no merge base']);
  // The source's commit is the source's.
  const found = await engine.merges.findBase({ repository, source: 'c1', destination: 'c2' });
  expect(found).toEqual({
    sourceCommitId: ids['c1'],
    destinationCommitId: ids['c2'],
    baseCommitId: ids['c0'],
  });
});

test('commit records must have the id of their content', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const record = {
    id: '7e115345c6817cd9a839d9642254caa0a61011a7a684354cd038652ec8b5f485',
    committer: 'Committer',
    message: 'message',
    metaRangeId: '',
    creationDate: 1_000_000_000,
    metadata: { key: 'value' },
    parents: ['a'.repeat(64), 'b'.repeat(64)],
    version: 1,
    generation: 4,
  };
  await engine.commits.createRecord({ repository, commit: record });
  expect(await refusalKind(engine.commits.createRecord({ repository, commit: record }))).toBe(
    'already_exists',
  );
  expect(
    await refusalKind(engine.commits.createRecord({ repository, commit: { ...record, id: 'wrong' } })),
  ).toBe('invalid');
  // Absent metadata is an empty map.
  const { metadata: _dropped, ...bare } = record;
  expect(await refusalKind(engine.commits.createRecord({ repository, commit: bare }))).toBe('invalid');
  expect(await engine.commits.get({ repository, ref: record.id })).toMatchObject({
    metadata: { key: 'value' },
  });
});

test('tags are created once, resolved, listed and deleted', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const head = (await engine.branches.get({ repository, branch: 'main' })).commitId;
  const create = (id: string, ref = 'main') => engine.tags.create({ repository, id, ref, actor });
  expect(await refusalKind(create('t', 'main$'))).toBe('invalid');
  expect(await create('t', 'main@')).toEqual({ id: 't', commitId: head });
  expect((await refusal(create('t'))).message).toBe('tag already exists: not unique');
  expect((await refusal(create('main'))).message).toBe('branch name main: conflict found');
  expect((await refusal(create(head))).message).toBe(`commit ID ${head}: conflict found`);
  for (const bad of ['a/b', 'x.lock', '@', 'a b', 't..g', '', 'a.', 'x@{', 'a^b', 'a\\b']) {
    expect([bad, await refusalKind(create(bad))]).toEqual([bad, 'invalid']);
  }
  for (const good of ['~tag', 'v1.0', 'ünï']) await create(good);
  expect((await engine.tags.list({ repository })).items.map((tag) => tag.id)).toEqual([
    't',
    'v1.0',
    '~tag',
    'ünï',
  ]);
  await engine.tags.delete({ repository, id: 't', actor });
  expect(await refusalKind(engine.tags.delete({ repository, id: 't', actor }))).toBe('not_found');
  expect(await refusalKind(engine.tags.get({ repository, id: 't' }))).toBe('not_found');
});
