import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { noDays } from './external-collector.ts';
import { actor, commit, newRepository, put, refusal } from './fixture.ts';
import { day, GcWorld, hour } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

interface Two {
  readonly world: GcWorld;
  readonly engine: Engine;
  readonly owner: string;
  readonly user: string;
  readonly isThere: () => Promise<boolean>;
  readonly collect: (repository: string) => Promise<number>;
}

/** One repository uses an object that its owner has committed away. */
async function open(): Promise<Two> {
  const world = new GcWorld();
  worlds.push(world);
  const engine = await world.engine();
  const [owner, user] = [await newRepository(engine), await newRepository(engine)];
  await put(engine, owner, 'main', 'a', 'one');
  await commit(engine, owner, 'main');
  const { physicalAddress } = await engine.objects.stat({ repository: owner, ref: 'main', path: 'a' });
  const brought = { repository: user, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 3 };
  await engine.objects.stage({ ...brought, mayReadRepository: () => true });
  await engine.objects.delete({ repository: owner, branch: 'main', path: 'a' });
  await commit(engine, owner, 'main');
  await engine.gc.setRules({ repository: owner, rules: noDays });
  const { storageNamespace } = await engine.repositories.get(owner);
  world.now += 28 * hour;
  return {
    world,
    engine,
    owner,
    user,
    isThere: () => world.exists(storageNamespace, physicalAddress),
    collect: async (repository) => {
      const run = await engine.gcRuns.start({ repository, user: 'tester' });
      await world.collect(engine);
      const { report, error } = await engine.gcRuns.get({ repository, run });
      if (report === undefined) throw new Error(error);
      world.now += 8 * day;
      return report.held.find((held) => held.repository === user)?.count.objects ?? 0;
    },
  };
}

it('holds what another repository uses until that one has dropped it and was collected', async () => {
  const { engine, owner, user, isThere, collect } = await open();
  expect([await collect(owner), await collect(user), await collect(owner)]).toEqual([1, 0, 1]);
  const { message } = await refusal(engine.gc.prepareCommits(owner));
  expect(message).toBe(`repository '${user}' refers to objects of this one: use the built-in collector`);
  await engine.branches.reset({ repository: user, branch: 'main', type: 'reset' });
  expect(await collect(owner)).toBe(1);
  await collect(user);
  expect([await collect(owner), await isThere()]).toEqual([0, true]);
  await collect(owner);
  expect(await isThere()).toBe(false);
});

it('holds it as long as any commit names it', async () => {
  const { engine, owner, user, isThere, collect } = await open();
  await commit(engine, user, 'main');
  await engine.objects.delete({ repository: user, branch: 'main', path: 'b' });
  await engine.commits.create({ repository: user, branch: 'main', message: 'dropped', actor });
  await engine.gc.setRules({ repository: user, rules: noDays });
  for (let round = 0; round < 2; round += 1) {
    await collect(user);
    expect([await collect(owner), await isThere()]).toEqual([1, true]);
  }
});
