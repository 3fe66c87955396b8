import { BlockError } from '@svc/block';
import { XidGenerator } from '@svc/encoding';
import { afterEach, expect, it } from 'vitest';
import type { GcReport } from '../src/face/gc-runs.ts';
import { newRepository } from './fixture.ts';
import { GcWorld, hour, type Around } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

/** More than two delete calls take. */
const many = 2500;

interface Outcome {
  readonly world: GcWorld;
  readonly report: GcReport;
  /** How long the sweep took, in milliseconds. */
  readonly took: number;
  /** Once more, with nothing in the way. */
  readonly again: () => Promise<GcReport>;
}

async function sweep(around: Around): Promise<Outcome> {
  const world = new GcWorld();
  worlds.push(world);
  const quiet = await world.engine();
  const repository = await newRepository(quiet);
  const { storageNamespace } = await quiet.repositories.get(repository);
  const names = new XidGenerator({ clock: () => world.now });
  const partition = names.next();
  for (let index = 0; index < many; index += 1) {
    const identifier = `data/${partition}/${names.next()}`;
    await world.adapter.put({ storageNamespace, identifier, identifierType: 'relative' }, Buffer.from('x'));
  }
  world.now += 28 * hour;
  const run = async (engine: typeof quiet): Promise<GcReport> => {
    const id = await engine.gcRuns.start({ repository, user: 'tester', hard: true, maxPercent: 100 });
    await world.collect(engine);
    const { report, error } = await engine.gcRuns.get({ repository, run: id });
    if (report === undefined) throw new Error(error);
    return report;
  };
  let begun = 0;
  const collector = await world.engine({
    around: (name, call, about) => {
      if (name === 'deleteMany' && begun === 0) begun = world.now;
      return around(name, call, about);
    },
  });
  const report = await run(collector);
  return { world, report, took: world.now - begun, again: () => run(quiet) };
}

const countsOf = ({ classes }: GcReport): readonly number[] => {
  const row = classes.find((item) => item.class === 'uncommitted');
  return [row?.deleted.objects ?? -1, row?.failed.objects ?? -1];
};

it('sends several delete calls of a batch at a time', async () => {
  let [now, most] = [0, 0];
  const { report, took } = await sweep(async (name, call) => {
    if (name !== 'deleteMany') return call();
    most = Math.max(most, (now += 1));
    try {
      return await call();
    } finally {
      now -= 1;
    }
  });
  expect([most, countsOf(report), took < 40_000]).toEqual([3, [many, 0], true]);
});

it('waits until a call is over whose answer was lost, and what the others did counts', async () => {
  let calls = 0;
  const { world, report, took, again } = await sweep(async (name, call) => {
    if (name !== 'deleteMany') return call();
    calls += 1;
    const isLost = calls === 2;
    const answer = await call();
    if (isLost) throw new BlockError('unavailable', 'the connection broke');
    return answer;
  });
  expect(calls).toBe(3);
  expect(countsOf(report)).toEqual([1500, 0]);
  expect(took).toBeGreaterThanOrEqual(40_000);
  // All went, but of a thousand nobody knows.
  expect(world.deleted).toHaveLength(many);
  expect(countsOf(await again())).toEqual([0, 0]);
});
