import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { wholeRound } from '../src/face/jobs.ts';
import {
  actor,
  commit,
  contents,
  createWorld,
  newRepository,
  put,
  refusal,
  refusalKind,
  type World,
} from './fixture.ts';
import { emptyOutbox, expectExactLog, readRecords } from './moves-model.ts';

const hour = 3_600_000;
const day = 24 * hour;
const anna = { committer: 'Anna', userId: 'anna', requestId: 'r-7' };
const both = ['branch', 'tag'] as const;

async function history(): Promise<{ world: World; engine: Engine; repository: string; heads: string[] }> {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const heads: string[] = [];
  for (const content of ['1', '2', '3']) {
    world.now += hour;
    await put(engine, repository, 'main', 'a', content);
    heads.push(await commit(engine, repository, 'main'));
  }
  world.now += hour;
  return { world, engine, repository, heads };
}

test('the log is listed newest first, in pages, filtered, and followed for one ref', async () => {
  const { world, engine, repository, heads } = await history();
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor: anna });
  world.now += hour;
  await engine.tags.create({ repository, id: 'v1', ref: 'dev', actor: anna });
  await engine.branches.create({ repository, name: 'tx', source: 'main', hidden: true, actor });
  world.now += hour;
  await engine.branches.delete({ repository, branch: 'dev', actor: anna });
  const all = await engine.reflog.list({ repository, types: both });
  expect(all.items.map(({ kind, refId }) => `${kind} ${refId}`)).toEqual([
    'delete dev',
    'create v1',
    'create dev',
    'commit main',
    'commit main',
    'commit main',
    'create main',
  ]);
  expect(all.items[0]).toMatchObject({
    refType: 'branch',
    oldCommitId: heads[2],
    newCommitId: undefined,
    user: 'anna',
    requestId: 'r-7',
    restorable: true,
    hidden: false,
  });
  const seen: string[] = [];
  for (let after = '', more = true; more;) {
    const page = await engine.reflog.list({ repository, types: both, after, amount: 2, showHidden: true });
    seen.push(...page.items.map(({ id }) => id));
    [after, more] = [page.nextOffset, page.hasMore];
  }
  expect(seen).toHaveLength(8);
  expect(seen).toEqual(seen.toSorted((a, b) => (a < b ? 1 : -1)));
  const kinds = async (options: object): Promise<string[]> =>
    (await engine.reflog.list({ repository, types: both, ...options })).items.map(
      ({ kind, refId }) => `${kind} ${refId}`,
    );
  expect(await kinds({ ref: 'dev' })).toEqual(['delete dev', 'create dev']);
  expect(await kinds({ ref: 'main', amount: 1 })).toEqual(['commit main']);
  expect(await kinds({ user: 'anna', kinds: ['create'] })).toEqual(['create v1', 'create dev']);
  expect(await kinds({ types: ['tag'] })).toEqual(['create v1']);
  expect(await kinds({ since: world.now - 90 * 60_000 })).toEqual(['delete dev', 'create v1']);
  expect(await kinds({ until: world.now - 3 * hour })).toEqual([
    'commit main',
    'commit main',
    'commit main',
    'create main',
  ]);
  const [newest] = all.items;
  expect(await engine.reflog.get({ repository, move: newest!.id })).toEqual(newest);
  for (const bad of [{ after: 'x' }, { kinds: ['nothing'] }, { since: 2, until: 1 }]) {
    expect(await refusalKind(engine.reflog.list({ repository, types: both, ...bad }))).toBe('invalid');
  }
  expect(await refusalKind(engine.reflog.list({ repository, types: both, ref: 'nobody' }))).toBe('not_found');
  expect(await refusalKind(engine.reflog.get({ repository, move: '0'.repeat(26) }))).toBe('not_found');
});

test('a deleted branch and a deleted tag come back, once', async () => {
  const { world, engine, repository, heads } = await history();
  await engine.branches.create({ repository, name: 'dev', source: heads[1]!, actor });
  await put(engine, repository, 'dev', 'staged', 'x');
  await engine.tags.create({ repository, id: 'v1', ref: heads[0]!, actor });
  await engine.branches.delete({ repository, branch: 'dev', actor: anna });
  await engine.tags.delete({ repository, id: 'v1', actor: anna });
  const deleted = await engine.reflog.listDeleted({ repository, types: both });
  expect(deleted.items).toMatchObject([
    { type: 'branch', id: 'dev', commitId: heads[1], deletedBy: 'anna', hidden: false },
    { type: 'tag', id: 'v1', commitId: heads[0], deletedBy: 'anna' },
  ]);
  expect(deleted.items[0]!.restorableUntil.seconds).toBe(Math.floor((world.now + 30 * day) / 1000));
  const page = await engine.reflog.listDeleted({ repository, types: both, amount: 1 });
  expect([page.hasMore, page.nextOffset]).toEqual([true, 'branch/dev']);
  const rest = await engine.reflog.listDeleted({ repository, types: both, after: page.nextOffset });
  expect(rest.items.map(({ id }) => id)).toEqual(['v1']);

  const undelete = (type: 'branch' | 'tag', id: string, more: object = {}) =>
    engine.reflog.undelete({ repository, type, id, actor: anna, ...more });
  const back = await undelete('branch', 'dev');
  expect(back).toMatchObject({ type: 'branch', id: 'dev', commitId: heads[1] });
  expect(await engine.reflog.get({ repository, move: back.moveId })).toMatchObject({
    kind: 'undelete',
    source: deleted.items[0]!.moveId,
  });
  expect(await contents(engine, repository, 'dev')).toEqual({ a: '2' });
  expect(await refusalKind(undelete('branch', 'dev'))).toBe('already_exists');
  expect(await undelete('tag', 'v1', { as: 'v1-again' })).toMatchObject({ commitId: heads[0] });
  expect(await undelete('tag', 'v1')).toMatchObject({ id: 'v1', commitId: heads[0] });
  expect((await refusal(undelete('branch', 'never'))).message).toBe("no deleted branch 'never'");
  expect((await engine.reflog.listDeleted({ repository, types: both })).items).toEqual([]);
  const byMove = await undelete('branch', 'dev', { as: 'dev2', moveId: deleted.items[0]!.moveId });
  expect(byMove.commitId).toBe(heads[1]);
  expect(await refusalKind(undelete('tag', 'dev', { as: 'x', moveId: deleted.items[0]!.moveId }))).toBe(
    'not_found',
  );
  expect(await refusalKind(undelete('branch', 'dev', { as: 'x', moveId: 'nonsense' }))).toBe('invalid');
  expectExactLog(await readRecords(world.state, engine, repository));
});

test('a deletion is forgotten when its time is over', async () => {
  const { world, engine, repository } = await history();
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await engine.branches.delete({ repository, branch: 'dev', actor });
  await engine.reflog.setRetentionDays({ repository, days: 2 });
  expect(await engine.reflog.getRetentionDays(repository)).toBe(2);
  world.now += 2 * day + hour;
  const late = engine.reflog.undelete({ repository, type: 'branch', id: 'dev', actor });
  expect((await refusal(late)).message).toMatch(
    /^no deleted branch 'dev': forgotten on .* \(retention 2 days\)$/,
  );
  await engine.reflog.setRetentionDays({ repository, days: undefined });
  expect(await engine.reflog.getRetentionDays(repository)).toBeUndefined();
  await engine.reflog.undelete({ repository, type: 'branch', id: 'dev', actor });
  expect(await refusalKind(engine.reflog.setRetentionDays({ repository, days: 3651 }))).toBe('invalid');
});

test('a deleted branch whose data was collected does not come back', async () => {
  const { world, engine, repository } = await history();
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await engine.branches.delete({ repository, branch: 'dev', actor });
  const trees = new Proxy(world.trees, {
    get: (target, name) => {
      if (name === 'outline') return () => Promise.resolve(undefined);
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
  const gone = world.engine({ trees }).reflog.undelete({ repository, type: 'branch', id: 'dev', actor });
  expect(await refusalKind(gone)).toBe('data_gone');
});

test('a branch is rolled back by a commit or by a reset', async () => {
  const { world, engine, repository, heads } = await history();
  const rollback = (options: { to: string; mode: 'commit' | 'reset' }) =>
    engine.reflog.rollback({ repository, branch: 'main', actor: anna, ...options });
  await engine.protection.set({ repository, patterns: ['main'] });
  expect(await refusalKind(rollback({ to: 'main@{1}', mode: 'reset' }))).toBe('protected');
  const back = await rollback({ to: 'main@{2}', mode: 'commit' });
  expect(back.previousCommitId).toBe(heads[2]);
  expect(await contents(engine, repository, 'main')).toEqual({ a: '1' });
  expect(await engine.commits.get({ repository, ref: 'main' })).toMatchObject({
    id: back.commitId,
    parents: [heads[2]],
    message: 'Roll back to main@{2}',
  });
  expect(await engine.reflog.get({ repository, move: back.moveId })).toMatchObject({
    kind: 'rollback',
    oldCommitId: heads[2],
    newCommitId: back.commitId,
  });
  expect(await refusalKind(rollback({ to: heads[0]!, mode: 'commit' }))).toBe('no_changes');
  await engine.protection.set({ repository, patterns: [] });
  const undone = await rollback({ to: back.moveId, mode: 'reset' });
  expect(undone).toMatchObject({ commitId: heads[2], previousCommitId: back.commitId });
  expect(await contents(engine, repository, 'main')).toEqual({ a: '3' });
  expect(await refusalKind(rollback({ to: 'main', mode: 'reset' }))).toBe('no_changes');
  expect(await refusalKind(rollback({ to: 'nobody', mode: 'commit' }))).toBe('not_found');
  await put(engine, repository, 'main', 'dirty', '1');
  for (const mode of ['commit', 'reset'] as const) {
    expect(await refusalKind(rollback({ to: heads[0]!, mode }))).toBe('dirty_branch');
  }
  await engine.branches.create({ repository, name: 'dev', source: heads[0]!, actor });
  const foreign = engine.reflog.rollback({
    repository,
    branch: 'dev',
    to: back.moveId,
    mode: 'commit',
    actor,
  });
  expect(await refusalKind(foreign)).toBe('invalid');
  const recorded = await readRecords(world.state, engine, repository);
  expectExactLog(recorded);
  expect(recorded.moves.filter(({ data }) => data.lossy).map(({ id }) => id)).toHaveLength(1);
});

test('moves that are no longer shown are removed, and nothing that is young or needed', async () => {
  const { world, engine, repository, heads } = await history();
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
  await engine.tags.delete({ repository, id: 'v1', actor });
  const trim = engine.jobs.find(({ name }) => name === 'trim-moves')!;
  world.now += 20 * day;
  await put(engine, repository, 'main', 'a', '4');
  await commit(engine, repository, 'main');
  await trim.begin()(wholeRound);
  expect((await readRecords(world.state, engine, repository)).moves).toHaveLength(7);
  world.now += 11 * day;
  const before = await readRecords(world.state, engine, repository);
  // What is not in the log of events yet stays, however old.
  await trim.begin()(wholeRound);
  expect((await readRecords(world.state, engine, repository)).moves).toEqual(before.moves);
  await emptyOutbox(world.state, engine, repository);
  await trim.begin()(wholeRound);
  const after = await readRecords(world.state, engine, repository);
  expect(after.moves).toEqual(before.moves.slice(-1));
  expect(after.graves).toEqual(new Map());
  const resolve = (ref: string) => engine.refs.resolve({ repository, ref });
  expect((await resolve('main@{1}')).commitId).toBe(heads[2]);
  expect((await refusal(resolve('main@{2}'))).message).toMatch(/^no record of branch main before /);
  // The log goes on after what was forgotten.
  await put(engine, repository, 'main', 'a', '5');
  await commit(engine, repository, 'main');
  expect((await resolve('main@{2}')).commitId).toBe(heads[2]);
});

test('a log is expired on request, but not what collectors still need', async () => {
  const { world, engine, repository } = await history();
  const expire = (before: number) => engine.reflog.expire({ repository, before });
  expect(await refusalKind(expire(world.now - hour))).toBe('invalid');
  world.now += 28 * hour;
  await put(engine, repository, 'main', 'a', '4');
  await commit(engine, repository, 'main');
  await emptyOutbox(world.state, engine, repository);
  await expire(world.now - 27 * hour);
  expect((await readRecords(world.state, engine, repository)).moves).toHaveLength(1);
});
