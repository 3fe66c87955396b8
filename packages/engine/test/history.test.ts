import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import {
  actor,
  changes,
  commit,
  contents,
  createWorld,
  newRepository,
  put,
  read,
  refusal,
  refusalKind,
} from './fixture.ts';
import { emptyTreeId } from './naive-trees.ts';

async function diffOf(
  engine: Engine,
  repository: string,
  left: string,
  right: string,
  type: 'two_dot' | 'three_dot' = 'three_dot',
  more: object = {},
) {
  const page = await engine.refs.diff({ repository, left, right, type, amount: 1000, ...more });
  return page.items.map((item) => `${item.type} ${item.path}`);
}

test('commits without changes, with dates, from a source tree', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const make = (more: object = {}) =>
    engine.commits.create({ repository, branch: 'main', message: '', actor, ...more });
  expect(await refusal(make())).toMatchObject({ kind: 'no_changes', message: 'commit: no changes' });
  expect((await make({ allowEmpty: true })).metaRangeId).toBe(emptyTreeId);
  await put(engine, repository, 'main', 'a', '1');
  const made = await make({ date: 1_642_626_109, metadata: { k: 'v' } });
  expect(made).toMatchObject({
    creationDate: { seconds: 1_642_626_109 },
    metadata: { k: 'v' },
    generation: 3,
    committer: 'tester',
    version: 1,
  });
  expect((await engine.commits.get({ repository, ref: 'main' })).id).toBe(made.id);
  await put(engine, repository, 'main', 'b', '1');
  expect((await refusal(make({ sourceMetaRange: made.metaRangeId }))).message).toBe(
    'cannot use source MetaRange on a branch with uncommitted changes',
  );
  await engine.branches.reset({ repository, branch: 'main', type: 'reset' });
  // An unknown tree is refused, not stored in a broken commit.
  expect(await refusalKind(make({ sourceMetaRange: 'f'.repeat(64) }))).toBe('invalid');
  expect((await make({ sourceMetaRange: emptyTreeId })).metaRangeId).toBe(emptyTreeId);
  expect(await contents(engine, repository, 'main')).toEqual({});
  expect(
    await refusal(engine.commits.create({ repository, branch: 'gone', message: '', actor })),
  ).toMatchObject({ kind: 'not_found', message: 'branch not found' });
  expect(await refusalKind(make({ message: 'x'.repeat(300_000), allowEmpty: true }))).toBe('invalid');
});

test('hooks: order, abort keeps everything staged, and no second run for an unchanged candidate', async () => {
  const world = createWorld();
  const ran: string[] = [];
  let refuse = true;
  const engine = world.engine({
    hooks: {
      before: async (event) => {
        ran.push(`${event.type} ${event.sourceRef}`);
        if (refuse && event.type === 'pre-commit') throw new Error('not today');
        return { runId: event.type };
      },
      after: async (event) => void ran.push(`${event.type} ${event.preRunId ?? ''}`),
    },
  });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await expect(commit(engine, repository, 'main')).rejects.toThrow('not today');
  expect(await changes(engine, repository, 'main')).toEqual(['added a']);
  refuse = false;
  await put(engine, repository, 'main', 'b', '1');
  await commit(engine, repository, 'main');
  expect(await contents(engine, repository, 'main@')).toEqual({ a: '1', b: '1' });
  expect(ran).toEqual([
    'prepare-commit main',
    'pre-commit main',
    'prepare-commit main',
    'pre-commit main',
    'post-commit pre-commit',
  ]);
});

test('a pre-merge hook can read the commit it is asked about, and its refusal leaves the branch where it was', async () => {
  const world = createWorld();
  const asked: string[] = [];
  const engine = world.engine({
    hooks: {
      before: async (event) => {
        if (event.type !== 'pre-merge') return undefined;
        const read = await world.engine().commits.get({ repository, ref: event.commitId ?? '' });
        asked.push(read.message);
        expect(await contents(world.engine(), repository, read.id)).toEqual({ a: '1' });
        throw new Error('not today');
      },
      after: () => undefined,
    },
  });
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'a', '1');
  await commit(engine, repository, 'side');
  const merging = engine.merges.merge({ repository, source: 'side', destination: 'main', actor });
  await expect(merging).rejects.toThrow('not today');
  expect(asked).toEqual(["Merge 'side' into 'main'"]);
  expect(await contents(engine, repository, 'main')).toEqual({});
});

test('pre-commit hooks do not run again when a lost race leaves the candidate unchanged', async () => {
  const world = createWorld();
  const ran: string[] = [];
  let lost = 0;
  const engine = world.engine({
    hooks: {
      after: () => undefined,
      before: (event) => {
        ran.push(event.type);
        return Promise.resolve(undefined);
      },
    },
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          if (name !== 'change') return member.bind(target) as unknown;
          return (...args: Parameters<typeof kv.change>) => {
            // The first move of the head is lost, as if another server had touched the record.
            if (lost === 0) {
              lost += 1;
              return Promise.resolve(false);
            }
            return target.change(...args);
          };
        },
      }),
  });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  expect(lost).toBe(1);
  expect(ran).toEqual(['prepare-commit', 'pre-commit']);
});

test('a hook that commits to its own branch does not wait for itself', async () => {
  const world = createWorld();
  let inner = false;
  const engine: Engine = world.engine({
    hooks: {
      after: () => undefined,
      before: async (event) => {
        if (event.type === 'pre-commit' && !inner) {
          inner = true;
          await put(engine, event.repository.id, 'main', 'from-hook', '1');
          await commit(engine, event.repository.id, 'main', 'inner');
        }
        return undefined;
      },
    },
  });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main', 'outer').catch((error: unknown) =>
    expect(error).toMatchObject({ kind: 'no_changes' }),
  );
  expect(await contents(engine, repository, 'main@')).toEqual({ a: '1', 'from-hook': '1' });
});

test('the log by path, stop_at, limit, after, since and first parent', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  for (let index = 1; index <= 10; index += 1) {
    world.now += 60_000;
    await put(engine, repository, 'main', `foo/bar${index}`, String(index));
    await commit(engine, repository, 'main', `commit${index}`);
  }
  const log = async (more: object) => {
    const page = await engine.commits.log({ repository, ref: 'main', ...more });
    return page.items.map((item) => item.message).join(' ') + (page.hasMore ? ' …' : '');
  };
  expect(await log({ prefixes: ['foo/bar1'] })).toBe('commit10 commit1');
  expect(await log({ prefixes: ['foo/bar1'], amount: 1 })).toBe('commit10 …');
  expect(await log({ objects: ['foo/bar3', 'foo/bar7'] })).toBe('commit7 commit3');
  expect(await log({ objects: ['foo/bar99'] })).toBe('');
  expect(await log({ stopAt: 'main~2' })).toBe('commit10 commit9 commit8');
  // A stop the path filter hides still stops.
  expect(await log({ stopAt: 'main~2', objects: ['foo/bar9', 'foo/bar1'] })).toBe('commit9');
  expect(await log({ amount: 1, limit: true })).toBe('commit10');
  expect(await log({ amount: 2 })).toBe('commit10 commit9 …');
  expect(await log({ after: 'main~7' })).toBe('commit2 commit1 Repository created');
  expect(await log({ after: 'main~3', stopAt: 'main~1', amount: 2 })).toBe('commit6 commit5 …');
  expect(await log({ since: world.now - 60_000 })).toBe('commit10 commit9');
  expect(await refusalKind(log({ objects: [''] }))).toBe('invalid');
  expect((await refusal(log({ after: 'gone' }))).message).toBe('from ref: not found');
  expect((await refusal(log({ stopAt: 'gone' }))).message).toBe('stop_at: not found');
  expect((await refusal(log({ ref: 'gone' }))).message).toBe('ref: not found');
  await engine.branches.create({ repository, name: 'side', source: 'main~1', actor });
  world.now += 60_000;
  await put(engine, repository, 'side', 's', '1');
  await commit(engine, repository, 'side', 'side');
  world.now += 60_000;
  await engine.merges.merge({ repository, source: 'side', destination: 'main', message: 'merge', actor });
  expect(await log({ amount: 3 })).toBe('merge side commit10 …');
  expect(await log({ amount: 3, firstParent: true })).toBe('merge commit10 commit9 …');
  expect(await log({ prefixes: ['s'] })).toBe('side');
});

test('the log of commits that are in memory is the log of those that have to be read', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  for (let round = 0; round < 6; round += 1) {
    const side = `side-${round}`;
    await engine.branches.create({ repository, name: side, source: round > 2 ? 'main~2' : 'main', actor });
    for (const branch of [side, 'main']) {
      world.now += 1000;
      await put(engine, repository, branch, `${branch}/${round}`, 'x');
      await commit(engine, repository, branch, `${branch} ${round}`);
    }
    await engine.merges.merge({ repository, source: side, destination: 'main', actor });
  }
  const logOf = async (of: Engine, more: object): Promise<string[]> =>
    (await of.commits.log({ repository, ref: 'main', ...more })).items.map(({ id }) => id);
  for (const more of [{}, { firstParent: true }, { since: world.now - 3500 }, { amount: 5 }]) {
    const warm = await logOf(engine, more);
    expect(new Set(warm).size).toBe(warm.length);
    const cold = world.engine();
    expect(await logOf(cold, more)).toEqual(warm);
    // Some in memory, some not.
    const half = world.engine();
    await logOf(half, { amount: 4, ref: 'main~3' });
    expect(await logOf(half, more)).toEqual(warm);
    await Promise.all([cold.close(), half.close()]);
  }
  expect(await logOf(engine, {})).toHaveLength(19);
});

test('diffs: two and three dots, with staging on either side, folded and paged', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['a', 'b', 'file1', 'file10', 'd/x']) await put(engine, repository, 'main', path, '1');
  await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'a', '2');
  await put(engine, repository, 'dev', 'new/1', '1');
  await put(engine, repository, 'dev', 'new/2', '1');
  await engine.objects.delete({ repository, branch: 'dev', path: 'b' });
  await commit(engine, repository, 'dev');
  await put(engine, repository, 'main', 'a', '3');
  await put(engine, repository, 'main', 'only-main', '1');
  await commit(engine, repository, 'main');
  expect(await diffOf(engine, repository, 'main', 'dev', 'two_dot')).toEqual([
    'changed a',
    'removed b',
    'added new/1',
    'added new/2',
    'removed only-main',
  ]);
  expect(await diffOf(engine, repository, 'main', 'dev')).toEqual([
    'conflict a',
    'removed b',
    'added new/1',
    'added new/2',
  ]);
  expect(await diffOf(engine, repository, 'main', 'dev', 'three_dot', { delimiter: '/' })).toEqual([
    'conflict a',
    'removed b',
    'prefix_changed new/',
  ]);
  expect(
    await diffOf(engine, repository, 'main', 'dev', 'three_dot', { delimiter: '/', after: 'new/' }),
  ).toEqual([]);
  expect(await diffOf(engine, repository, 'main', 'dev', 'three_dot', { prefix: 'new/' })).toEqual([
    'added new/1',
    'added new/2',
  ]);
  // Staging counts where it is asked for, on either side.
  await put(engine, repository, 'dev', 'a', '1');
  await put(engine, repository, 'dev', 'staged', '1');
  await engine.objects.delete({ repository, branch: 'dev', path: 'new/1' });
  expect(await diffOf(engine, repository, 'main', 'dev$')).toEqual([
    'removed b',
    'added new/2',
    'added staged',
  ]);
  expect(await diffOf(engine, repository, 'main', 'dev$', 'two_dot')).toEqual([
    'changed a',
    'removed b',
    'added new/2',
    'removed only-main',
    'added staged',
  ]);
  expect(await diffOf(engine, repository, 'dev$', 'dev', 'two_dot')).toEqual([
    'changed a',
    'added new/1',
    'removed staged',
  ]);
  expect(await diffOf(engine, repository, 'dev', 'dev', 'two_dot')).toEqual([]);
  expect(await refusalKind(diffOf(engine, repository, 'main~1$', 'dev'))).toBe('invalid');
  expect(await refusalKind(diffOf(engine, repository, 'gone', 'dev'))).toBe('not_found');
});

test('the page after file1 starts with file10; a removed uncommitted item has no size', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'removed', '12345');
  await commit(engine, repository, 'main');
  for (const path of ['file1', 'file10']) await put(engine, repository, 'main', path, '1');
  await engine.objects.delete({ repository, branch: 'main', path: 'removed' });
  const page = (after: string) =>
    engine.refs.diffUncommitted({ repository, branch: 'main', delimiter: '/', amount: 1, after });
  expect(await page('')).toMatchObject({
    items: [{ path: 'file1', size: 1 }],
    hasMore: true,
    nextOffset: 'file1',
  });
  expect(await page('file1')).toMatchObject({ items: [{ path: 'file10' }], hasMore: true });
  expect(await page('file10')).toMatchObject({
    items: [{ path: 'removed', type: 'removed', size: 0 }],
    hasMore: false,
  });
});

test('revert takes back one commit and cherry-pick repeats one, parents chosen by number', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const root = (await engine.branches.get({ repository, branch: 'main' })).commitId;
  await put(engine, repository, 'main', 'a', '1');
  const one = (
    await engine.commits.create({ repository, branch: 'main', message: 'one', metadata: { m: '1' }, actor })
  ).id;
  await put(engine, repository, 'main', 'a', '2');
  await put(engine, repository, 'main', 'b', '1');
  const two = await commit(engine, repository, 'main', 'two');
  await engine.branches.create({ repository, name: 'dev', source: one, actor });
  await put(engine, repository, 'dev', 'c', '1');
  await commit(engine, repository, 'dev');
  const merged = (await engine.merges.merge({ repository, source: 'dev', destination: 'main', actor })).id;
  const revert = (ref: string, more: object = {}) =>
    engine.commits.revert({ repository, branch: 'main', ref, actor, ...more });
  const pick = (ref: string, more: object = {}) =>
    engine.commits.cherryPick({ repository, branch: 'dev', ref, actor, ...more });
  expect(await refusal(revert(merged))).toMatchObject({
    kind: 'conflict',
    message: 'must specify 1-based parent number for reverting merge commit',
  });
  expect(await refusal(pick(merged))).toMatchObject({
    kind: 'invalid',
    message: 'must specify 1-based parent number for cherry-picking merge commit',
  });
  expect(await refusalKind(revert(merged, { parentNumber: 3 }))).toBe('invalid');
  expect(await refusalKind(revert(merged, { parentNumber: -1 }))).toBe('invalid');
  expect(await refusalKind(pick(merged, { parentNumber: 3 }))).toBe('invalid');
  expect(await refusalKind(pick(merged, { parentNumber: 0 }))).toBe('invalid');
  // One was overwritten by two.
  expect(await refusal(revert(one))).toMatchObject({
    kind: 'conflict',
    message: 'update branch: conflict found',
  });
  expect(await refusalKind(revert(root))).toBe('no_changes');
  expect(await refusalKind(revert(root, { parentNumber: 1 }))).toBe('invalid');
  await revert(root, { allowEmpty: true });
  await engine.protection.set({ repository, patterns: ['main'] });
  const undone = await revert(two);
  expect(undone.message).toBe(`Revert ${two}`);
  expect(await contents(engine, repository, 'main')).toEqual({ a: '1', c: '1' });
  expect(await refusalKind(revert(two))).toBe('no_changes');
  const before = await engine.commits.get({ repository, ref: one });
  await engine.branches.create({ repository, name: 'empty', source: root, actor });
  const picked = await engine.commits.cherryPick({ repository, branch: 'empty', ref: one, actor });
  expect(picked).toMatchObject({
    message: 'one',
    metadata: { m: '1', 'cherry-pick-origin': one, 'cherry-pick-committer': 'tester' },
  });
  // The picked commit is left as it was.
  expect(await engine.commits.get({ repository, ref: one })).toEqual(before);
  expect((await engine.tags.create({ repository, id: 'v1', ref: one, actor })).commitId).toBe(one);
  expect(
    await refusalKind(engine.commits.cherryPick({ repository, branch: 'empty', ref: root, actor })),
  ).toBe('invalid');
  await put(engine, repository, 'empty', 'dirty', '1');
  expect(await refusalKind(engine.commits.cherryPick({ repository, branch: 'empty', ref: two, actor }))).toBe(
    'dirty_branch',
  );
  expect(await read(engine, repository, 'empty', 'a')).toBe('1');
});
