import type { KvStore } from '@svc/kv';
import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport } from '../src/face/gc-runs.ts';
import { actor, commit, newRepository, put, read, refusal } from './fixture.ts';
import { day, GcWorld, hour, tellEvents } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

/** Calls `first` before the first write or read of the store that `is` names. */
function before(is: (name: string, args: readonly unknown[]) => boolean, first: () => Promise<void>) {
  let isDone = false;
  return (kv: KvStore): KvStore =>
    new Proxy(kv, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        // As a remote store: nothing can come before a read that does not wait.
        if (name === 'valueAtOnce' || name === 'firstKeyAtOnce') return undefined;
        if (typeof member !== 'function') return member;
        const call = member as (...args: unknown[]) => unknown;
        if (!/^(get|change)$/.test(String(name))) return call.bind(target) as unknown;
        return async (...args: unknown[]) => {
          if (!isDone && is(String(name), args)) {
            isDone = true;
            await first();
          }
          return call.apply(target, args);
        };
      },
    });
}

const mentions = (value: unknown, text: string): boolean =>
  JSON.stringify(value, (_, part: unknown) => {
    const { type, data } = (part ?? {}) as { type?: string; data?: number[] };
    return type === 'Buffer' && data !== undefined ? Buffer.from(data).toString('latin1') : part;
  }).includes(text);

async function collect(
  world: GcWorld,
  engine: Engine,
  repository: string,
  options: { readonly hard?: boolean; readonly by?: Engine } = {},
): Promise<GcReport> {
  const { hard = false, by = engine } = options;
  const run = await engine.gcRuns.start({ repository, user: 'tester', hard });
  await world.collect(by);
  const { error, report } = await engine.gcRuns.get({ repository, run });
  if (report === undefined) throw new Error(error);
  return report;
}

interface Lost {
  readonly world: GcWorld;
  readonly engine: Engine;
  readonly repository: string;
  /** A commit that nothing leads to; the next run deletes its record. */
  readonly lost: string;
  /** What happens when the engine's store is about to be asked for the first time as `moment` says. */
  readonly at: (
    moment: (name: string, args: readonly unknown[]) => boolean,
    first: () => Promise<void>,
  ) => void;
}

async function loseCommit(): Promise<Lost> {
  const world = new GcWorld();
  worlds.push(world);
  let moment: Parameters<Lost['at']>[0] = () => false;
  let first = (): Promise<void> => Promise.resolve();
  const engine = await world.engine({
    gc: { danglingCommitsMs: 30 * day },
    wrapKv: before(
      (name, args) => moment(name, args),
      () => first(),
    ),
  });
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'a', 'one');
  const lost = await commit(engine, repository, 'dev');
  await engine.branches.delete({ repository, branch: 'dev', actor });
  world.now += 31 * day;
  await tellEvents(world, engine, repository);
  await engine.reflog.expire({ repository, before: world.now - 28 * hour });
  await collect(world, engine, repository);
  world.now += 8 * day;
  const at: Lost['at'] = (newMoment, newFirst) => {
    moment = newMoment;
    first = newFirst;
  };
  return { world, engine, repository, lost, at };
}

type ById = (engine: Engine, repository: string, ref: string) => Promise<unknown>;

const writes: readonly (readonly [name: string, write: ById])[] = [
  [
    'branch',
    (engine, repository, source) => engine.branches.create({ repository, name: 'found', source, actor }),
  ],
  ['tag', (engine, repository, ref) => engine.tags.create({ repository, id: 'found', ref, actor })],
  [
    'alias',
    (engine, repository, ref) =>
      engine.bindings.createAlias({ name: 'found', target: { repository, ref, pin: true }, actor }),
  ],
];

const recordOf = (name: string, args: readonly unknown[]): boolean =>
  name === 'change' && mentions(args, 'found') && mentions(args, 'put');

it.each(writes)(
  'refuses a %s at a commit that went since it was named, and writes nothing',
  async (name, write) => {
    const { world, engine, repository, lost, at } = await loseCommit();
    // The look whether the name is free comes after the commit was found.
    at(
      (call, args) => call === 'get' && mentions(args, 'found'),
      async () => {
        await collect(world, engine, repository);
      },
    );
    const failure = await refusal(write(engine, repository, lost));
    expect([name, failure.kind]).toEqual([name, 'not_found']);
    expect((await engine.branches.list({ repository })).items.map(({ id }) => id)).toEqual(['main']);
    expect((await engine.tags.list({ repository })).items).toEqual([]);
    expect((await engine.bindings.listAliases({})).items).toEqual([]);
  },
);

it.each(writes)('stores a commit again that went while a %s on it was written', async (_, write) => {
  const { world, engine, repository, lost, at } = await loseCommit();
  let deleted = 0;
  at(recordOf, async () => {
    const { classes } = await collect(world, engine, repository);
    deleted = classes.find((row) => row.class === 'commits')?.deleted.objects ?? 0;
  });
  await write(engine, repository, lost);
  expect(deleted).toBe(1);
  const fresh = await world.engine();
  expect((await fresh.commits.get({ repository, ref: lost })).id).toBe(lost);
  expect(await read(fresh, repository, lost, 'a')).toBe('one');
});

it('keeps what an alias shows that is set while its repository is in the trash', async () => {
  const world = new GcWorld();
  worlds.push(world);
  const quiet = await world.engine();
  const repository = await newRepository(quiet);
  await put(quiet, repository, 'main', 'a', 'old');
  const expired = await commit(quiet, repository, 'main');
  await put(quiet, repository, 'main', 'a', 'new');
  world.now += 2 * day;
  await commit(quiet, repository, 'main');
  await quiet.gc.setRules({ repository, rules: { defaultRetentionDays: 1, branches: [] } });
  world.now += 3 * day;
  const { instanceUid } = await quiet.repositories.get(repository);
  const writer = await world.engine({
    wrapKv: before(
      // The alias is found to be free once its target is known.
      (name, args) => name === 'get' && mentions(args, 'shown'),
      () => quiet.repositories.delete({ repository, actor }),
    ),
  });
  let isSet = false;
  const collector = await world.engine({
    around: async (name, call, about) => {
      if (name === 'put' && !isSet && mentions(about, 'plan.jsonl')) {
        isSet = true;
        const target = { repository, ref: expired, pin: true };
        await writer.bindings.createAlias({ name: 'shown', target, actor });
        await quiet.repositories.restore({ instance: instanceUid, actor });
      }
      return call();
    },
  });
  const { classes } = await collect(world, quiet, repository, { hard: true, by: collector });
  expect(isSet).toBe(true);
  expect(classes.find((row) => row.class === 'expired')?.due.objects).toBe(1);
  expect(await read(quiet, repository, expired, 'a')).toBe('old');
});
