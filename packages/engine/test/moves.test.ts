import { moveKinds } from '@svc/encoding';
import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { actor, commit, createWorld, newRepository, put, type World } from './fixture.ts';
import { watched } from './failing-store.ts';
import { expectExactLog, readRecords } from './moves-model.ts';
import { Random, Scheduler } from './scheduler.ts';

test('every kind of move is recorded with who, from, to and why', async () => {
  const world = createWorld();
  // Each look at the clock is later than the one before.
  const engine = world.engine({ clock: () => (world.now += 1) });
  const repository = await newRepository(engine);
  const who = { committer: 'Anna Berg', userId: 'anna', requestId: 'r-1' };
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor: who, hidden: true });
  await put(engine, repository, 'dev', 'a', '1');
  const first = (await engine.commits.create({ repository, branch: 'dev', message: 'm', actor: who })).id;
  await engine.merges.merge({ repository, source: 'dev', destination: 'main', actor: who });
  await engine.commits.revert({ repository, branch: 'dev', ref: 'dev', actor: who });
  await engine.commits.cherryPick({ repository, branch: 'dev', ref: first, actor: who });
  await engine.branches.hardReset({ repository, branch: 'dev', ref: 'main~1', actor: who });
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor: who });
  await engine.tags.delete({ repository, id: 'v1', actor: who });
  await engine.branches.delete({ repository, branch: 'dev', actor: who });
  const recorded = await readRecords(world.state, engine, repository);
  expectExactLog(recorded);
  const told = recorded.moves.map(({ data }) => [moveKinds[data.kind], data.refId, data.source, data.lossy]);
  expect(told).toEqual([
    ['create', 'main', '', false],
    ['create', 'dev', 'main', false],
    ['commit', 'dev', '', false],
    ['merge', 'main', 'dev', false],
    ['revert', 'dev', 'dev', false],
    ['cherry-pick', 'dev', first, false],
    ['hard-reset', 'dev', 'main~1', true],
    ['create', 'v1', 'main', false],
    ['delete', 'v1', '', true],
    ['delete', 'dev', '', true],
  ]);
  const mine = recorded.moves.slice(1).map(({ data }) => data);
  expect(new Set(mine.map((data) => data.user))).toEqual(new Set(['anna']));
  expect(new Set(mine.map((data) => data.requestId.toString()))).toEqual(new Set(['r-1']));
  expect(mine.filter((data) => data.hidden).map((data) => data.refId)).toEqual(Array(6).fill('dev'));
});

test('what moves no ref is not recorded', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const before = await readRecords(world.state, engine, repository);
  await engine.branches.hardReset({ repository, branch: 'main', ref: 'main', actor });
  await put(engine, repository, 'main', 'b', '1');
  await engine.branches.reset({ repository, branch: 'main', type: 'reset' });
  await expect(commit(engine, repository, 'main')).rejects.toThrow('no changes');
  await expect(engine.branches.create({ repository, name: 'main', source: 'main', actor })).rejects.toThrow();
  expect((await readRecords(world.state, engine, repository)).moves).toEqual(before.moves);
});

test('the log of a name goes on when it is deleted and made anew, also where the clock is behind', async () => {
  const world = createWorld();
  const ahead = world.engine();
  const behind = world.engine({ clock: () => world.now - 3_600_000 });
  const repository = await newRepository(ahead);
  for (const engine of [ahead, behind, ahead, behind]) {
    await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
    await put(engine, repository, 'dev', 'a', String(world.now));
    await commit(engine, repository, 'dev');
    await engine.branches.delete({ repository, branch: 'dev', actor });
  }
  const recorded = await readRecords(world.state, ahead, repository);
  expectExactLog(recorded);
  expect(recorded.moves.filter(({ data }) => data.refId === 'dev').map(({ data }) => data.depth)).toEqual(
    Array.from({ length: 12 }, (_, index) => index + 1),
  );
});

test.each([1, 2, 3, 4, 5, 6])(
  'random moves by engines with clocks apart replay to the exact refs, seed %i',
  async (seed) => {
    const random = new Random(seed * 7919);
    const world = createWorld();
    const scheduler = new Scheduler(random);
    const skews = [0, -3_600_000, 90_000];
    const engines = skews.map((skew, index) =>
      world.engine({
        clock: () => world.now + skew,
        wrapKv: (kv) => scheduler.wrap(kv, index === 1),
      }),
    );
    const quiet = world.engine();
    const repository = await newRepository(quiet);
    const work = async (engine: Engine, worker: number): Promise<void> => {
      for (let step = 0; step < 25; step++) {
        world.now += random.below(3) === 0 ? random.below(2000) - 700 : 0;
        try {
          await randomMove(random, engine, repository, `${worker}-${step}`);
        } catch (error) {
          if (!(error instanceof EngineError)) throw error;
        }
      }
    };
    await Promise.all([0, 1, 2, 0, 1].map((index, worker) => work(engines[index]!, worker)));
    const recorded = await readRecords(world.state, quiet, repository);
    expectExactLog(recorded);
    expect(recorded.moves.length).toBeGreaterThan(5);
  },
);

async function randomMove(random: Random, engine: Engine, repository: string, unique: string): Promise<void> {
  const branch = random.pick(['main', 'a', 'b']);
  const other = random.pick(['main', 'a', 'b']);
  const id = random.pick(['v1', 'v2']);
  switch (random.below(9)) {
    case 0:
    case 1:
      await engine.branches.create({ repository, name: branch, source: other, actor });
      return;
    case 2:
      await engine.branches.delete({ repository, branch, actor });
      return;
    case 3:
      await engine.tags.create({ repository, id, ref: branch, actor });
      return;
    case 4:
      await engine.tags.delete({ repository, id, actor });
      return;
    case 5:
      await engine.branches.hardReset({ repository, branch, ref: `${other}~1`, actor });
      return;
    case 6:
      await engine.merges.merge({ repository, source: other, destination: branch, actor });
      return;
    default:
      await put(engine, repository, branch, random.pick(['x', 'y']), unique);
      await commit(engine, repository, branch);
  }
}

const operations: Record<string, (engine: Engine, repository: string) => Promise<unknown>> = {
  'create branch': (engine, repository) =>
    engine.branches.create({ repository, name: 'new', source: 'dev', actor }),
  'create branch anew': (engine, repository) =>
    engine.branches.create({ repository, name: 'gone', source: 'dev', actor }),
  'delete branch': (engine, repository) => engine.branches.delete({ repository, branch: 'dev', actor }),
  'create tag': (engine, repository) => engine.tags.create({ repository, id: 'v2', ref: 'dev', actor }),
  'delete tag': (engine, repository) => engine.tags.delete({ repository, id: 'v1', actor }),
  commit: async (engine, repository) => {
    await put(engine, repository, 'dev', 'b', '2');
    await commit(engine, repository, 'dev');
  },
  merge: (engine, repository) =>
    engine.merges.merge({ repository, source: 'dev', destination: 'main', actor }),
  revert: (engine, repository) => engine.commits.revert({ repository, branch: 'dev', ref: 'dev', actor }),
  'cherry-pick': (engine, repository) =>
    engine.commits.cherryPick({ repository, branch: 'main', ref: 'dev', actor }),
  'hard reset': (engine, repository) =>
    engine.branches.hardReset({ repository, branch: 'dev', ref: 'main', actor }),
};

test.each(Object.keys(operations))('%s dies between any two steps: ref and record agree', async (name) => {
  const operation = operations[name]!;
  let steps = 0;
  for (let dieAt = 0; ; dieAt++) {
    const { world, repository } = await prepared();
    let calls = 0;
    const step = (): void => {
      if (calls++ >= dieAt) throw new Error('the process died');
    };
    const dying = world.engine({ wrapKv: (kv) => watched(kv, step, step) });
    const died = await operation(dying, repository).then(
      () => false,
      () => true,
    );
    expectExactLog(await readRecords(world.state, world.engine(), repository));
    steps = Math.max(steps, calls);
    if (!died && calls <= dieAt) break;
  }
  expect(steps).toBeGreaterThan(1);
});

async function prepared(): Promise<{ world: World; repository: string }> {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await engine.branches.create({ repository, name: 'gone', source: 'main', actor });
  await put(engine, repository, 'dev', 'a', '1');
  await commit(engine, repository, 'dev');
  await engine.tags.create({ repository, id: 'v1', ref: 'dev', actor });
  await engine.branches.delete({ repository, branch: 'gone', actor });
  return { world, repository };
}

test.each(['branch', 'tag'] as const)(
  'a %s whose namesake comes and goes while it is created follows it in the log',
  async (type) => {
    const world = createWorld();
    const quick = world.engine();
    const repository = await newRepository(quick);
    const create = (engine: Engine): Promise<unknown> =>
      type === 'branch'
        ? engine.branches.create({ repository, name: 'x', source: 'main', actor })
        : engine.tags.create({ repository, id: 'x', ref: 'main', actor });
    let overtaken = false;
    const slow = world.engine({
      wrapKv: (kv) =>
        watched(kv, async ({ method, key }) => {
          if (method !== 'change' || !key.endsWith('/x') || overtaken) return;
          overtaken = true;
          await create(quick);
          if (type === 'branch') await quick.branches.delete({ repository, branch: 'x', actor });
          else await quick.tags.delete({ repository, id: 'x', actor });
        }),
    });
    await create(slow);
    expect(overtaken).toBe(true);
    expectExactLog(await readRecords(world.state, quick, repository));
  },
);
