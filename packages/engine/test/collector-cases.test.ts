import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport, GcRun, GcRunRequest } from '../src/face/gc-runs.ts';
import { noDays } from './external-collector.ts';
import { actor, commit, newRepository, put, read } from './fixture.ts';
import { day, GcWorld, hour, type GcEngineOptions } from './gc-world.ts';

const worlds: GcWorld[] = [];
/** Time does not pass while somebody waits, so nobody takes a collector for dead. */
const patient: GcEngineOptions = { rest: () => nextTurn() };

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

interface Place {
  readonly world: GcWorld;
  readonly engine: Engine;
  readonly repository: string;
}

async function open(options: GcEngineOptions = {}): Promise<Place> {
  const world = new GcWorld();
  worlds.push(world);
  const engine = await world.engine(options);
  return { world, engine, repository: await newRepository(engine) };
}

async function run(
  { world, engine, repository }: Place,
  options: Partial<GcRunRequest> = {},
  collector = engine,
): Promise<GcRun> {
  const id = await engine.gcRuns.start({ repository, user: 'tester', ...options });
  await world.collect(collector);
  return engine.gcRuns.get({ repository, run: id });
}

async function report(place: Place, options: Partial<GcRunRequest> = {}): Promise<GcReport> {
  const { report: told, error } = await run(place, options);
  if (told === undefined) throw new Error(error);
  return told;
}

const counted = (told: GcReport, name: string, what: 'condemned' | 'deleted' | 'rescued'): number =>
  told.classes.find((row) => row.class === name)?.[what].objects ?? -1;

/** Something to delete, so that a run has a batch. */
async function leaveGarbage({ engine, repository }: Place): Promise<void> {
  await put(engine, repository, 'main', 'garbage', 'old');
  await put(engine, repository, 'main', 'garbage', 'new');
}

describe('what a collection leaves alone', () => {
  it('is what is linked at the last moment, while a run deletes', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    await leaveGarbage(place);
    world.now += 28 * hour;
    const target = { repository, branch: 'main', path: 'linked' };
    const { storageNamespace } = await engine.repositories.get(repository);
    const write = async (): Promise<string> => {
      const { physicalAddress } = await engine.objects.getPhysicalAddress(target);
      const pointer = { storageNamespace, identifier: physicalAddress, identifierType: 'full' } as const;
      await world.adapter.put(pointer, Buffer.from('linked'));
      return physicalAddress;
    };
    const [linked, never] = [await write(), await write()];
    world.now += day - 60_000;
    let batches = 0;
    const collector = await world.engine({
      around: async (name, call) => {
        if (name === 'deleteMany' && (batches += 1) === 1) {
          await engine.objects.link({ ...target, physicalAddress: linked, checksum: 'x', size: 6 });
        }
        return call();
      },
    });
    expect((await run(place, { hard: true }, collector)).state).toBe('completed');
    expect(batches).toBe(1);
    for (let week = 0; week < 2; week += 1) {
      world.now += 8 * day;
      await run(place);
    }
    expect(await read(engine, repository, 'main', 'linked')).toBe('linked');
    expect(await world.exists(storageNamespace, never)).toBe(false);
  });

  it('is what was uploaded once more just as it was committed', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    await put(engine, repository, 'main', 'a', 'same');
    await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', 'same');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 30 * day;
    await run(place);
    world.now += 8 * day;
    await run(place);
    expect(await read(engine, repository, 'main', 'a')).toBe('same');
    expect(await read(engine, repository, 'main@', 'a')).toBe('same');
  });

  it('is everything a tag shows, below commits that have expired', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    for (const path of ['a', 'b', 'c']) await put(engine, repository, 'main', path, 'tagged');
    await commit(engine, repository, 'main');
    await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
    for (const path of ['a', 'b', 'c']) {
      for (const content of ['1', '2']) {
        await put(engine, repository, 'main', path, content);
        await commit(engine, repository, 'main');
      }
    }
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    expect(counted(await report(place, { hard: true }), 'expired', 'deleted')).toBe(3);
    for (const path of ['a', 'b', 'c']) expect(await read(engine, repository, 'v1', path)).toBe('tagged');
  });

  it('is what a branch shows that was made while its source was deleted and everything was collected', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    await engine.branches.create({ repository, name: 'z', source: 'main', actor });
    await put(engine, repository, 'z', 'a', 'one');
    await commit(engine, repository, 'z');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    let state = '';
    const slow = await world.engine({
      hooks: {
        before: async ({ type }) => {
          if (type !== 'pre-create-branch') return undefined;
          world.now += 10 * hour;
          await engine.branches.delete({ repository, branch: 'z', actor });
          world.now += 10 * hour;
          ({ state } = await run(place, { hard: true }));
          return undefined;
        },
        after: () => undefined,
      },
    });
    await slow.branches.create({ repository, name: 'a', source: 'z', actor });
    expect(state).toBe('completed');
    expect(await read(engine, repository, 'a', 'a')).toBe('one');
  });
});

describe('a collection that must not go on', () => {
  it('deletes and condemns nothing of a repository that is deleted meanwhile', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    await leaveGarbage(place);
    world.now += 28 * hour;
    const { instanceUid } = await engine.repositories.get(repository);
    let isDeleted = false;
    const collector = await world.engine({
      around: async (name, call) => {
        if (name === 'walk' && !isDeleted) {
          isDeleted = true;
          await engine.repositories.delete({ repository, actor });
        }
        return call();
      },
    });
    await engine.gcRuns.start({ repository, user: 'tester', hard: true });
    await world.collect(collector);
    expect(isDeleted).toBe(true);
    await engine.repositories.restore({ instance: instanceUid, actor });
    expect(world.deleted.filter((uri) => uri.includes('/data/'))).toEqual([]);
    expect(await engine.gcRuns.quarantine(repository)).toEqual({ objects: 0, bytes: 0 });
  });

  it('stops when most of the objects would go, and loses nothing once the rules are put right', async () => {
    const place = await open();
    const { world, engine, repository } = place;
    const many = 1001;
    for (let index = 0; index < many; index += 1) await put(engine, repository, 'main', `${index}`, 'x');
    await commit(engine, repository, 'main');
    for (let index = 0; index < many; index += 1) {
      await engine.objects.delete({ repository, branch: 'main', path: `${index}` });
    }
    await commit(engine, repository, 'main');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    expect(counted(await report(place), 'expired', 'condemned')).toBe(many);
    world.now += 8 * day;
    const { state, error } = await run(place);
    expect([state, error]).toEqual([
      'failed',
      `would delete ${many} of ${many} objects (100 %): check the rules, then run again with max_percent`,
    ]);
    await engine.gc.deleteRules(repository);
    expect(counted(await report(place), 'expired', 'rescued')).toBe(many);
    expect(world.deleted.filter((uri) => uri.includes('/data/'))).toEqual([]);
  });

  it('fails where the clocks of server and store differ by ten minutes', async () => {
    const place = await open({ skew: 600_000 });
    const { state, error } = await run(place);
    expect([state, error]).toEqual(['failed', "clock differs from the store's by 600 s: set both right"]);
  });
});

describe('while a batch is deleted', () => {
  it('a branch from an expired commit waits for it, and one from a branch does not', async () => {
    const place = await open(patient);
    const { world, engine, repository } = place;
    await put(engine, repository, 'main', 'a', 'one');
    const expired = await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', 'two');
    await commit(engine, repository, 'main');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    await run(place);
    world.now += 8 * day;
    const { instanceUid } = await engine.repositories.get(repository);
    const pins = async (): Promise<number> => {
      let found = 0;
      const partition = Buffer.from(`${repository}-${instanceUid}`);
      for await (const page of world.kv.scan(partition, { prefix: Buffer.from('gc/pins/') }))
        found += page.length;
      return found;
    };
    let made: Promise<number> | undefined;
    let isMade = false;
    let hasWaited = false;
    const collector = await world.engine({
      around: async (name, call) => {
        if (name === 'deleteMany' && made === undefined) {
          made = engine.branches.create({ repository, name: 'back', source: expired, actor }).then(() => {
            isMade = true;
            return world.deleted.length;
          });
          await engine.branches.create({ repository, name: 'other', source: 'main', actor });
          while ((await pins()) === 0) await nextTurn();
          for (let turn = 0; turn < 100; turn += 1) await nextTurn();
          hasWaited = !isMade;
        }
        return call();
      },
    });
    expect((await run(place, {}, collector)).state).toBe('completed');
    expect(hasWaited).toBe(true);
    expect(world.deleted).toHaveLength((await made) ?? 0);
    expect((await engine.branches.get({ repository, branch: 'back' })).commitId).toBe(expired);
    expect(await pins()).toBe(0);
  });
});
