import { type BlockAdapter, createMemAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { createCommittedTrees } from '../src/committed/committed-trees.ts';
import { localStore, s3Store, slowStore } from '../src/committed/test/test-stores.ts';
import type { Engine } from '../src/engine.ts';
import { actor, contents, createWorld, newRepository, paths, put } from './fixture.ts';
import { runModel } from './model-run.ts';
import { NaiveTrees } from './naive-trees.ts';
import { Random, Scheduler } from './scheduler.ts';

test.each([1, 2, 3, 4])('random operations on two engines agree with the model, seed %d', async (seed) => {
  const random = new Random(seed);
  const world = createWorld(new NaiveTrees(() => random.next() < 0.3));
  const engines = [world.engine(), world.engine()];
  const repository = await newRepository(engines[0]!);
  await runModel({ engines, repository, random, steps: 120, tick: () => (world.now += 1000) });
});

const scarce = { memoryCacheBytes: 1000, cacheSizeBytes: 5000 };

test.each([
  { store: 'memory', openRanges: 500, memoryCacheBytes: 10_000_000, cacheSizeBytes: 100_000_000 },
  { store: 'slow', openRanges: 1, ...scarce },
  { store: 'local', openRanges: 2, ...scarce },
  { store: 'S3', openRanges: 3, ...scarce },
])('random operations over real trees agree with the model: %o', async ({ store, ...sizes }) => {
  const stores: Record<string, () => BlockAdapter | Promise<BlockAdapter | undefined>> = {
    memory: createMemAdapter,
    slow: slowStore,
    local: localStore,
    S3: s3Store,
  };
  const tables = await stores[store]!();
  if (tables === undefined) return;
  const adapter = createMemAdapter();
  const trees = await createCommittedTrees({
    ...sizes,
    blockStores: { get: () => tables },
    cacheDir: tempDir('model-trees'),
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    minRangeSize: 0,
    maxRangeSize: 600,
    raggedness: 3,
    evict: true,
    worker: false,
  });
  const world = createWorld(trees, adapter);
  const engines = [world.engine(), world.engine()];
  const repository = await newRepository(engines[0]!);
  await runModel({
    engines,
    repository,
    random: new Random(11),
    steps: 150,
    tick: () => (world.now += 1000),
  });
  await trees.close();
});

interface Raced {
  readonly engines: Engine[];
  readonly repository: string;
  readonly random: Random;
}

/** Engines whose every store call may be overtaken by another's. */
async function race(seed: number, count = 3): Promise<Raced> {
  const random = new Random(seed * 7919);
  const world = createWorld(new NaiveTrees(() => random.next() < 0.3));
  const repository = await newRepository(world.engine());
  const scheduler = new Scheduler(random);
  const engines = Array.from({ length: count }, (_, i) =>
    world.engine({ wrapKv: (kv) => scheduler.wrap(kv, i % 2 === 0) }),
  );
  return { engines, repository, random };
}

function isRefused(error: unknown, ...kinds: string[]): void {
  expect(kinds).toContain((error as { kind?: string }).kind ?? String(error));
}

test.each([1, 2, 3, 4, 5, 6])(
  'no acknowledged write is lost or unseen while commits run, seed %d',
  async (seed) => {
    const { engines, repository, random } = await race(seed);
    const acknowledged = new Map<string, string>();
    const writer = async (index: number): Promise<void> => {
      const engine = engines[index % engines.length]!;
      for (let round = 0; round < 6; round += 1) {
        const key = `w${index}/${round % 4}`;
        await put(engine, repository, 'main', key, `${index}-${round}`);
        acknowledged.set(key, `${index}-${round}`);
        const reader = random.pick(engines);
        const shown = await reader.objects.stat({ repository, ref: 'main', path: key });
        expect(shown.size).toBe(`${index}-${round}`.length);
      }
    };
    const lister = async (): Promise<void> => {
      for (let round = 0; round < 4; round += 1) {
        const before = [...acknowledged.keys()];
        const listed = await paths(random.pick(engines), repository, 'main', { amount: 3 });
        expect(listed).toEqual([...new Set(listed)].sort());
        expect(before.filter((key) => !listed.includes(key))).toEqual([]);
      }
    };
    const committer = async (): Promise<void> => {
      for (let round = 0; round < 8; round += 1) {
        try {
          await random
            .pick(engines)
            .commits.create({ repository, branch: 'main', message: `c${round}`, actor });
        } catch (error) {
          isRefused(error, 'no_changes', 'busy');
        }
      }
    };
    await Promise.all([...[0, 1, 2, 3].map(writer), lister(), committer(), committer()]);
    const shown = await contents(engines[0]!, repository, 'main');
    expect(new Map(Object.entries(shown))).toEqual(acknowledged);
    await engines[0]!.commits.create({
      repository,
      branch: 'main',
      message: 'last',
      allowEmpty: true,
      actor,
    });
    expect(await contents(engines[1]!, repository, 'main@')).toEqual(shown);
  },
);

test.each([1, 2, 3])('If-None-Match has exactly one winner during commits, seed %d', async (seed) => {
  const { engines, repository, random } = await race(seed);
  const winners: string[] = [];
  const creator = async (index: number): Promise<void> => {
    try {
      await random.pick(engines).objects.upload({
        repository,
        branch: 'main',
        path: 'one',
        body: Buffer.from(`creator ${index}`),
        ifNoneMatch: '*',
      });
      winners.push(`creator ${index}`);
    } catch (error) {
      isRefused(error, 'precondition_failed', 'busy');
    }
  };
  const committer = async (): Promise<void> => {
    for (let round = 0; round < 4; round += 1) {
      await put(random.pick(engines), repository, 'main', `other${round}`, 'x');
      await random
        .pick(engines)
        .commits.create({ repository, branch: 'main', message: 'c', actor })
        .catch((error: unknown) => isRefused(error, 'no_changes', 'busy'));
    }
  };
  await Promise.all([...Array.from({ length: 10 }, (_, index) => creator(index)), committer()]);
  expect(winners.length).toBe(1);
  expect((await contents(engines[0]!, repository, 'main'))['one']).toBe(winners[0]);
});

test.each([1, 2])(
  'concurrent merges: history holds exactly the successful ones, racing writes stay, seed %d',
  async (seed) => {
    const { engines, repository, random } = await race(seed);
    const names = Array.from({ length: 6 }, (_, index) => `b${index}`);
    for (const name of names) {
      await engines[0]!.branches.create({ repository, name, source: 'main', actor });
      await put(engines[0]!, repository, name, `from/${name}`, name);
      await engines[0]!.commits.create({ repository, branch: name, message: name, actor });
    }
    const merged = new Set<string>();
    const merge = async (source: string): Promise<void> => {
      try {
        await random.pick(engines).merges.merge({ repository, source, destination: 'main', actor });
        merged.add(source);
      } catch (error) {
        isRefused(error, 'busy', 'dirty_branch');
      }
    };
    const write = async (): Promise<void> => put(random.pick(engines), repository, 'main', 'raced', '1');
    await Promise.all([...names.map(merge), write()]);
    const log = await engines[0]!.commits.log({ repository, ref: 'main', amount: 1000 });
    const merges = log.items.filter((item) => item.parents.length === 2).map((item) => item.message);
    expect(new Set(merges)).toEqual(new Set([...merged].map((name) => `Merge '${name}' into 'main'`)));
    const expected = Object.fromEntries([...merged].sort().map((name) => [`from/${name}`, name]));
    expect(await contents(engines[1]!, repository, 'main')).toEqual({ ...expected, raced: '1' });
    expect(await contents(engines[1]!, repository, 'main@')).toEqual(expected);
  },
);

test.each([1, 2, 3])('concurrent commits and a hard reset keep heads linear, seed %d', async (seed) => {
  const { engines, repository, random } = await race(seed);
  await put(engines[0]!, repository, 'main', 'base', '0');
  await engines[0]!.commits.create({ repository, branch: 'main', message: 'base', actor });
  const commit = async (key: string): Promise<void> => {
    const engine = random.pick(engines);
    await put(engine, repository, 'main', key, key);
    await engine.commits
      .create({ repository, branch: 'main', message: key, actor })
      .catch((error: unknown) => isRefused(error, 'no_changes', 'busy'));
  };
  await Promise.all([commit('x'), commit('y'), commit('z')]);
  await engines[0]!.commits.create({
    repository,
    branch: 'main',
    message: 'rest',
    allowEmpty: true,
    actor,
  });
  expect(await contents(engines[0]!, repository, 'main@')).toEqual({ base: '0', x: 'x', y: 'y', z: 'z' });
  const before = await engines[0]!.commits.log({ repository, ref: 'main' });
  const results = await Promise.allSettled([
    engines[0]!.branches.hardReset({ repository, branch: 'main', ref: 'main~', actor }),
    engines[1]!.commits.create({ repository, branch: 'main', message: 'D', allowEmpty: true, actor }),
  ]);
  for (const result of results)
    if (result.status === 'rejected') isRefused(result.reason, 'dirty_branch', 'busy');
  const [head, parent] = (await engines[2]!.commits.log({ repository, ref: 'main' })).items;
  const [c, b] = before.items;
  // D over B, or the reset took D away again; never D lost together with C.
  if (head!.message === 'D') expect([b!.id, c!.id]).toContain(parent!.id);
  else expect(head!.id).toBe(c!.id);
});
