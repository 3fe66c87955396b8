import { branchMessage } from '@svc/encoding';
import { createMemStore, type KvStore } from '@svc/kv';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { MoveLog } from '../src/moves/move-log.ts';
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

const hour = 3_600_000;
const day = 24 * hour;

async function threeCommits(): Promise<{
  world: World;
  engine: Engine;
  repository: string;
  heads: string[];
  times: number[];
}> {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const heads = [(await engine.branches.get({ repository, branch: 'main' })).commitId];
  const times = [world.now];
  for (const content of ['1', '2', '3']) {
    world.now += hour;
    await put(engine, repository, 'main', 'a', content);
    heads.push(await commit(engine, repository, 'main'));
    times.push(world.now);
  }
  world.now += hour;
  return { world, engine, repository, heads, times };
}

const resolverOf =
  (engine: Engine, repository: string) =>
  async (ref: string): Promise<string> =>
    (await engine.refs.resolve({ repository, ref })).commitId;

test('moves and times in refs are counted, answered or not', async () => {
  const counted: string[] = [];
  const engine = createWorld().engine({
    refObserver: {
      moved: (kind) => counted.push(kind),
      resolvedTime: (form, isKnown) => counted.push(`${form} ${isKnown}`),
    },
  });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
  expect(await refusalKind(engine.tags.create({ repository, id: 'v1', ref: 'main', actor }))).toBe(
    'already_exists',
  );
  const resolve = resolverOf(engine, repository);
  await resolve('main@-1');
  await resolve('main@{now}');
  expect(await refusalKind(resolve('main@-9'))).toBe('not_found');
  expect(counted).toEqual(['create', 'commit', 'create', 'moves true', 'ago true', 'moves false']);
});

test('a resolved time says when the branch stood there and what had put it there', async () => {
  const { engine, repository, heads } = await threeCommits();
  const { items } = await engine.reflog.list({ repository, ref: 'main', types: ['branch'] });
  const resolve = (ref: string) => engine.refs.resolve({ repository, ref });
  for (const back of [0, 1, 2, 3]) {
    const move = items[back]!;
    const stood = await resolve(`main@{${back}}`);
    expect([stood.moveId, stood.time]).toEqual([move.id, move.time]);
    const { seconds, nanos } = move.time;
    const at = `${new Date(seconds * 1000).toISOString().slice(0, 19)}.${String(nanos).padStart(9, '0')}Z`;
    expect(await resolve(`main@{${at}}`)).toEqual(stood);
  }
  const parent = await resolve('main@{1}~1');
  expect([parent.commitId, parent.moveId, parent.time]).toEqual([heads[1], undefined, items[1]!.time]);
  const lagging = await resolve('main@90m');
  expect([lagging.commitId, lagging.moveId]).toEqual([heads[2], items[1]!.id]);
  expect((await resolve('main@{commit 2099-01-01}')).time).toBeUndefined();
  expect((await resolve('main')).time).toBeUndefined();
});

test('positions of a branch by count and by time', async () => {
  const { engine, repository, heads, times, world } = await threeCommits();
  const resolve = resolverOf(engine, repository);
  for (const back of [0, 1, 2, 3]) {
    expect(await resolve(`main@{${back}}`)).toBe(heads[3 - back]);
    expect(await resolve(`main@-${back}`)).toBe(heads[3 - back]);
    expect(await resolve(`HEAD@{${back}}`)).toBe(heads[3 - back]);
  }
  expect((await refusal(resolve('main@{4}'))).message).toBe('branch main has 4 recorded positions');
  expect(await resolve('main@{1}~1')).toBe(await resolve('main@{2}'));
  for (const [index, time] of times.entries()) {
    expect(await resolve(`main@{${new Date(time).toISOString()}}`)).toBe(heads[index]);
    expect(await resolve(`main@{${new Date(time + hour - 1).toISOString()}}`)).toBe(heads[index]);
  }
  expect(await resolve('main@2h')).toBe(heads[2]);
  expect(await resolve('main@{90 minutes ago}')).toBe(heads[2]);
  expect(await resolve('main@{now}')).toBe(heads[3]);
  const early = await refusal(resolve('main@{yesterday}'));
  expect([early.kind, early.message]).toEqual([
    'not_found',
    `branch main did not exist at ${new Date(world.now - day).toISOString()}: created ${new Date(times[0]!).toISOString()}`,
  ]);
  expect(await refusalKind(resolve(`main@{${new Date(world.now + hour).toISOString()}}`))).toBe('invalid');
  expect(await resolve(`main@{${new Date(world.now + 59_000).toISOString()}}`)).toBe(heads[3]);
  expect((await refusal(resolve(`${heads[1]!}@{1}`))).message).toBe('a commit has no history of moves');
  expect((await refusal(resolve(`${heads[1]!.slice(0, 12)}@{1}`))).message).toBe(
    'a commit has no history of moves',
  );
  expect(await refusalKind(resolve('nobody@{1}'))).toBe('not_found');
  await engine.tags.create({ repository, id: 'main@20231114', ref: 'main', actor });
  expect(await refusalKind(resolve('main@20231114'))).toBe('not_found');
});

test('a time is a ref wherever one is taken, and never staged data', async () => {
  const { engine, repository, heads } = await threeCommits();
  await put(engine, repository, 'main', 'staged', 'x');
  expect(await contents(engine, repository, 'main@{0}')).toEqual({ a: '3' });
  expect(await contents(engine, repository, 'main@2h')).toEqual({ a: '2' });
  const diff = await engine.refs.diff({ repository, left: 'main@{2}', right: 'main@{0}', type: 'two_dot' });
  expect(diff.items).toMatchObject([{ type: 'changed', path: 'a' }]);
  const made = await engine.branches.create({ repository, name: 'then', source: 'main@{2}', actor });
  expect(made.commitId).toBe(heads[1]);
  expect((await engine.tags.create({ repository, id: 'v', ref: 'main@2h', actor })).commitId).toBe(heads[2]);
  await engine.branches.hardReset({ repository, branch: 'then', ref: 'then@{0}', actor });
  const log = await engine.commits.log({ repository, ref: 'main@{1}' });
  expect(log.items[0]?.id).toBe(heads[2]);
  const upload = engine.objects.upload({ repository, branch: 'main@{1}', path: 'b', body: Buffer.from('') });
  expect(await refusalKind(upload)).toBe('invalid');
});

test('deleted and made anew: its time before, the gap, and after', async () => {
  const { world, engine, repository, heads } = await threeCommits();
  const resolve = resolverOf(engine, repository);
  const who = { committer: 'Anna', userId: 'anna' };
  await engine.branches.create({ repository, name: 'gone', source: heads[1]!, actor });
  await engine.tags.create({ repository, id: 'v1.0', ref: heads[2]!, actor });
  world.now += hour;
  await engine.branches.delete({ repository, branch: 'gone', actor: who });
  await engine.tags.delete({ repository, id: 'v1.0', actor: who });
  const deleted = new Date(world.now).toISOString();
  world.now += hour;
  expect(await resolve('gone@{1}')).toBe(heads[1]);
  expect(await resolve('v1.0@{1}')).toBe(heads[2]);
  expect(await resolve('v1.0@{90 minutes ago}')).toBe(heads[2]);
  const now = new Date(world.now).toISOString();
  expect((await refusal(resolve('gone@{now}'))).message).toBe(
    `branch gone did not exist at ${now}: deleted ${deleted} by anna`,
  );
  expect(await refusalKind(resolve('gone@{0}'))).toBe('not_found');
  expect(await resolve('gone@{commit 2030-01-01}')).toBe(heads[1]);
  await engine.branches.create({ repository, name: 'gone', source: heads[3]!, actor });
  world.now += hour;
  expect(await resolve('gone@{now}')).toBe(heads[3]);
  expect(await resolve('gone@30m')).toBe(heads[3]);
  expect(await refusalKind(resolve('gone@90m'))).toBe('not_found');
  expect(await resolve('gone@150m')).toBe(heads[1]);
});

test('by the date of a commit, without any log', async () => {
  const { world, engine, repository, heads, times } = await threeCommits();
  await forgetLog(world, engine, repository);
  const fresh = world.engine();
  const resolve = resolverOf(fresh, repository);
  const date = (index: number): string => new Date(times[index]! + 1).toISOString();
  expect(await resolve(`main@{commit ${date(2)}}`)).toBe(heads[2]);
  expect(await refusalKind(resolve('main@{commit 2001-01-01}'))).toBe('not_found');
  const before = await refusal(resolve('main@{yesterday}'));
  const start = new Date(world.now).toISOString();
  expect(before.message).toBe(`no record of branch main before ${start}; use main@{commit …}`);
  world.now += 2 * day;
  expect(await resolve('main@{yesterday}')).toBe(heads[3]);
  expect((await refusal(resolve('main@{1}'))).message).toBe('branch main has 1 recorded position');
  await put(fresh, repository, 'main', 'b', '1');
  await commit(fresh, repository, 'main');
  world.now += hour;
  expect(await resolve('main@{yesterday}')).toBe(heads[3]);
  expect(await resolve('main@{1}')).toBe(heads[3]);
  expect((await refusal(resolve('main@{2}'))).message).toBe('branch main has 2 recorded positions');
  expect(await refusalKind(resolve('main@{3 days ago}'))).toBe('not_found');
});

test('a head that somebody moved beside the log is a gap, not an answer', async () => {
  const { world, engine, repository, heads } = await threeCommits();
  const { kv, partition } = await partitionOf(world, engine, repository);
  const key = Buffer.from('branches/main');
  const data = branchMessage.decode((await kv.get(partition, key))!.value);
  await kv.set(partition, key, branchMessage.encode({ ...data, commitId: heads[1]! }));
  const resolve = resolverOf(engine, repository);
  for (const ref of ['main@{1}', 'main@30m', 'main@2h']) {
    expect((await refusal(resolve(ref))).message).toBe(
      'the log of branch main has a gap before its present head',
    );
  }
  expect(await resolve('main@{now}')).toBe(heads[1]);
});

test('what is older than the retention is not answered', async () => {
  const { world, repository, heads } = await threeCommits();
  const engine = world.engine({ settings: { reflogRetentionMs: 150 * 60_000 } });
  const resolve = resolverOf(engine, repository);
  expect(await resolve('main@{1}')).toBe(heads[2]);
  expect(await resolve('main@{2}')).toBe(heads[1]);
  expect((await refusal(resolve('main@{3}'))).message).toMatch(/^no record of branch main before /);
  const nothing = world.engine({ settings: { reflogRetentionMs: 0 } });
  expect(await refusalKind(resolverOf(nothing, repository)('main@{1}'))).toBe('not_found');
  expect(await resolverOf(nothing, repository)('main@{0}')).toBe(heads[3]);
});

describe('the resolver against a plain list', () => {
  test('every time and count answers as the list does, in few reads', async () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(gaps, async (steps) => {
        const { positions, resolve, now } = await longLog(steps);
        for (let back = 1; back < positions.length; back++) {
          expect(await resolve(`x@{${back}}`)).toBe(positions.at(-1 - back)!.commit);
        }
        for (let index = 0; index < positions.length; index++) {
          const until = positions[index + 1]?.micros ?? now * 1000;
          if (until - positions[index]!.micros < 1000) continue;
          // Instants have whole milliseconds here; the moves may have microseconds in between.
          const instant = new Date(Math.ceil(positions[index]!.micros / 1000)).toISOString();
          expect(await resolve(`x@{${instant}}`)).toBe(positions[index]!.commit);
        }
      }),
      { numRuns: 20 },
    );
  }, 120_000);

  test('100 000 moves: at most 3 log2 reads for any of them', async () => {
    const { positions, resolve, reads } = await longLog(Array.from({ length: 100_000 }, () => 1));
    const limit = Math.ceil(3 * Math.log2(positions.length));
    for (let index = 1; index < positions.length; index += 4999) {
      const instant = new Date(Math.ceil(positions[index]!.micros / 1000)).toISOString();
      const before = reads.count;
      expect(await resolve(`x@{${instant}}`)).toBe(positions[index]!.commit);
      expect(reads.count - before).toBeLessThanOrEqual(limit + 3);
    }
  }, 120_000);
});

/** A branch with a move per step, so many milliseconds after the one before; its log is read without any cache. */
async function longLog(steps: readonly number[]): Promise<{
  positions: { micros: number; commit: string }[];
  resolve: (ref: string) => Promise<string>;
  reads: { count: number };
  now: number;
}> {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { kv, partition } = await partitionOf(world, engine, repository);
  const base = (await engine.branches.get({ repository, branch: 'main' })).commitId;
  const commits = [base, ...['a', 'b', 'c'].map((digit) => digit.repeat(64))];
  const { XidGenerator } = await import('@svc/encoding');
  const log = new MoveLog(
    kv,
    { subscribe: () => () => undefined, publish: () => Promise.resolve() },
    () => world.now,
    new XidGenerator(),
    { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    () => undefined,
  );
  const scope = {
    repository: await engine.repositories.get(repository),
    partition,
    committed: undefined as never,
  };
  const positions: { micros: number; commit: string }[] = [];
  let last: Buffer = Buffer.alloc(0);
  for (const [index, step] of steps.entries()) {
    world.now += step;
    const [from, to] = [positions.at(-1)?.commit, commits[(index + 1) % commits.length]!];
    const kind = index === 0 ? 'create' : 'commit';
    const planned = await log.plan(scope, { kind, type: 'branch', id: 'x', from, to, actor }, last);
    log.remember(planned);
    for (const write of planned.writes) {
      if (write.type === 'put' && write.value.length > 0) await kv.set(partition, write.key, write.value);
    }
    last = planned.id;
    positions.push({ micros: Number(planned.id.readBigUInt64BE(0)), commit: to });
  }
  world.now += 10;
  const data = {
    id: 'x',
    commitId: positions.at(-1)!.commit,
    stagingToken: 't',
    sealedTokens: [],
    hidden: false,
  };
  await kv.set(partition, Buffer.from('branches/x'), branchMessage.encode({ ...data, lastMove: last }));
  const reads = { count: 0 };
  const counting = (store: KvStore): KvStore =>
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        const call = member.bind(target) as (...args: unknown[]) => unknown;
        if (name !== 'valueAtOnce' && name !== 'get') return call;
        return (...args: unknown[]) => {
          reads.count += 1;
          return call(...args);
        };
      },
    });
  // A new engine for each look: nothing of the log is in its memory.
  const resolve = (ref: string): Promise<string> =>
    resolverOf(world.engine({ wrapKv: counting }), repository)(ref);
  return { positions, resolve, reads, now: world.now };
}

async function partitionOf(
  world: World,
  engine: Engine,
  repository: string,
): Promise<{ kv: KvStore; partition: Buffer }> {
  const { instanceUid } = await engine.repositories.get(repository);
  return { kv: createMemStore(world.state), partition: Buffer.from(`${repository}-${instanceUid}`) };
}

/** As a store of a server that recorded nothing. */
async function forgetLog(world: World, engine: Engine, repository: string): Promise<void> {
  const { kv, partition } = await partitionOf(world, engine, repository);
  for await (const page of kv.scan(partition)) {
    for (const { key, value } of page) {
      const name = key.toString();
      if (name.startsWith('branches/')) {
        const data = branchMessage.decode(value);
        await kv.set(partition, key, branchMessage.encode({ ...data, lastMove: Buffer.alloc(0) }));
      } else if (/^(moves|outbox|graves)\/|^reflog-since$/.test(name)) await kv.delete(partition, key);
    }
  }
}
