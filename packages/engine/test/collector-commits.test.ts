import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport, GcRunRequest } from '../src/face/gc-runs.ts';
import { actor, commit, newRepository, put, read, refusal } from './fixture.ts';
import { day, GcWorld, hour, tellEvents, type GcEngineOptions } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

interface Place {
  readonly world: GcWorld;
  readonly engine: Engine;
  readonly repository: string;
  /** Two commits that nothing leads to since a branch was deleted and the move forgotten. */
  readonly older: string;
  readonly lost: string;
}

async function open(options: GcEngineOptions = { gc: { danglingCommitsMs: 30 * day } }): Promise<Place> {
  const world = new GcWorld();
  worlds.push(world);
  const engine = await world.engine(options);
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'a', 'one');
  const older = await commit(engine, repository, 'dev');
  await put(engine, repository, 'dev', 'b', 'two');
  const lost = await commit(engine, repository, 'dev');
  await engine.branches.delete({ repository, branch: 'dev', actor });
  world.now += 31 * day;
  await tellEvents(world, engine, repository);
  await engine.reflog.expire({ repository, before: world.now - 28 * hour });
  return { world, engine, repository, older, lost };
}

async function collect(
  { world, engine, repository }: Place,
  options: Partial<GcRunRequest> = {},
  collector = engine,
): Promise<GcReport> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', ...options });
  await world.collect(collector);
  const { error, report } = await engine.gcRuns.get({ repository, run });
  if (report === undefined) throw new Error(error);
  return report;
}

const counts = ({ classes }: GcReport, name: string): readonly number[] => {
  const row = classes.find((item) => item.class === name);
  return [row?.condemned.objects ?? -1, row?.deleted.objects ?? -1, row?.rescued.objects ?? -1];
};

async function isThere({ world, repository }: Place, id: string): Promise<boolean> {
  const fresh = await world.engine();
  return fresh.commits.get({ repository, ref: id }).then(
    () => true,
    () => false,
  );
}

it('collects commits that nothing leads to, the last first, and then their tables and data', async () => {
  const place = await open();
  const { world, engine, repository, older, lost } = place;
  expect(counts(await collect(place), 'commits')).toEqual([1, 0, 0]);
  expect(await isThere(place, lost)).toBe(true);
  world.now += 8 * day;
  // Never sooner than its window, also in hard mode.
  const second = await collect(place, { hard: true });
  expect([counts(second, 'commits'), counts(second, 'tables')]).toEqual([
    [1, 1, 0],
    [0, 0, 0],
  ]);
  expect([await isThere(place, lost), await isThere(place, older)]).toEqual([false, true]);
  world.now += 8 * day;
  const third = await collect(place);
  expect([counts(third, 'commits'), counts(third, 'uncommitted')]).toEqual([
    [1, 0, 0],
    [1, 0, 0],
  ]);
  world.now += 8 * day;
  const fourth = await collect(place);
  expect([counts(fourth, 'commits')[1], counts(fourth, 'uncommitted')[1]]).toEqual([1, 1]);
  expect(counts(fourth, 'tables')[1]).toBeGreaterThan(0);
  expect(await isThere(place, older)).toBe(false);
  expect((await engine.commits.log({ repository, ref: 'main' })).items).toHaveLength(1);
});

it('keeps them as long as nobody asks for more, and those that somebody names again', async () => {
  const kept = await open({});
  expect(counts(await collect(kept), 'commits')).toEqual([0, 0, 0]);
  const place = await open();
  await collect(place);
  const { engine, repository, lost } = place;
  await engine.tags.create({ repository, id: 'found', ref: lost, actor });
  place.world.now += 8 * day;
  expect(counts(await collect(place), 'commits')).toEqual([0, 0, 1]);
  expect(await read(engine, repository, 'found', 'b')).toBe('two');
});

it.each(['create a branch', 'merge'] as const)(
  'stores a commit again that a batch takes while somebody does this with it: %s',
  async (what) => {
    const place = await open();
    const { world, engine, repository, lost } = place;
    await collect(place);
    world.now += 8 * day;
    await engine.commits.get({ repository, ref: lost });
    let made: Promise<unknown> | undefined;
    const collector = await world.engine({
      gc: { danglingCommitsMs: 30 * day },
      wrapKv: (kv) =>
        new Proxy(kv, {
          get: (target, name) => {
            const member: unknown = Reflect.get(target, name);
            if (typeof member !== 'function') return member;
            const call = member as (...args: unknown[]) => Promise<unknown>;
            if (name !== 'deleteIf') return call.bind(target);
            return async (...args: unknown[]) => {
              made ??=
                what === 'merge'
                  ? engine.merges.merge({ repository, source: lost, destination: 'main', actor })
                  : engine.branches.create({ repository, name: 'found', source: lost, actor });
              return call.apply(target, args);
            };
          },
        }),
    });
    await collect(place, {}, collector);
    expect(made).toBeDefined();
    await made;
    expect(await isThere(place, lost)).toBe(true);
    const fresh = await world.engine();
    expect(await read(fresh, repository, what === 'merge' ? 'main' : 'found', 'b')).toBe('two');
  },
);

it('stores a commit again that went while somebody still had it in memory', async () => {
  const place = await open();
  const { world, engine, repository, lost } = place;
  const other = await world.engine();
  await collect(place);
  world.now += 8 * day;
  await other.commits.get({ repository, ref: lost });
  await collect(place);
  expect(await isThere(place, lost)).toBe(false);
  await other.tags.create({ repository, id: 'found', ref: lost, actor });
  expect(await isThere(place, lost)).toBe(true);
  expect(await read(engine, repository, 'found', 'b')).toBe('two');
});

it('refuses to stage an address whose data a whole run took meanwhile', async () => {
  const world = new GcWorld();
  worlds.push(world);
  const collector = await world.engine();
  const repository = await newRepository(collector);
  await put(collector, repository, 'main', 'a', 'old');
  const { physicalAddress } = await collector.objects.stat({ repository, ref: 'main', path: 'a' });
  await put(collector, repository, 'main', 'a', 'new');
  world.now += 28 * hour;
  let isDone = false;
  const writer = await world.engine({
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          const call = member as (...args: unknown[]) => unknown;
          if (!/^(set|setIf|change)$/.test(String(name))) return call.bind(target) as unknown;
          return async (...args: unknown[]) => {
            const isStaged = Buffer.from(args[0] as Buffer).includes(':');
            if (isStaged && !isDone) {
              isDone = true;
              await collector.gcRuns.start({ repository, user: 'tester', hard: true });
              await world.collect(collector);
            }
            return call.apply(target, args);
          };
        },
      }),
  });
  const brought = { repository, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 3 };
  const staged = writer.objects.stage({ ...brought, mayReadRepository: () => true });
  expect((await refusal(staged)).kind).toBe('data_gone');
  expect(isDone).toBe(true);
  expect((await refusal(collector.objects.stat({ repository, ref: 'main', path: 'b' }))).kind).toBe(
    'not_found',
  );
});

it('leaves what is condemned of classes that a run does not look at as it is', async () => {
  const place = await open();
  const { world } = place;
  expect(counts(await collect(place), 'commits')).toEqual([1, 0, 0]);
  world.now += 4 * day;
  const objects = await collect(place, { classes: ['objects'] });
  expect(counts(objects, 'commits')).toEqual([1, 0, 0]);
  world.now += 4 * day;
  expect(counts(await collect(place), 'commits')).toEqual([1, 1, 0]);
});

it('stops rather than to take more memory than it may', async () => {
  const place = await open({ gc: { memoryBytes: 1000 } });
  await expect(collect(place)).rejects.toThrow(/needs more than gc.memory_bytes \(1000\) for 3 commits and/);
});
