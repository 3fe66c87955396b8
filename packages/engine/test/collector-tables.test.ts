import { BlockError, type ObjectPointer } from '@svc/block';
import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { sabotagedCollector, type Sabotage } from './collector-sabotage.ts';
import { actor, newRepository, put, read } from './fixture.ts';
import { day, GcWorld, hour } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

const isTable = ({ identifier }: ObjectPointer): boolean => /^_svc\/[0-9a-f]{64}$/.test(identifier);

/** When the commit comes whose tables a run is about to delete. */
type Moment = 'before the batch' | 'between look and deletion';

/** Answers what another server reads of the commit, and how many of its tables went meanwhile. */
async function commitAt(moment: Moment, sabotage?: Sabotage): Promise<{ read: string; deleted: number }> {
  const world = new GcWorld();
  worlds.push(world);
  const { written, writer } = await writerOf(world, sabotage);
  const repository = await newRepository(writer);
  await put(writer, repository, 'main', 'a', 'one');
  const refusing = await world.engine({
    hooks: {
      before: ({ type }) => {
        if (type !== 'pre-commit') return Promise.resolve(undefined);
        throw new EngineError('hook_aborted', 'refused');
      },
      after: () => undefined,
    },
  });
  const commit = { repository, branch: 'main', message: 'm', actor };
  await expect(refusing.commits.create(commit)).rejects.toThrow('refused');
  world.now += 28 * hour;
  await run(world, writer, repository);
  world.now += 8 * day;
  let made: Promise<{ id: string }> | undefined;
  const collector = await world.engine({
    around: async (name, call, about) => {
      if (name === 'properties' && sabotage === 'what was written again is deleted') {
        if (isTable(about as ObjectPointer)) throw new BlockError('not_found', 'not asked');
      }
      const isPlan = name === 'put' && (about as ObjectPointer).identifier.endsWith('plan.jsonl.gz');
      if (moment === 'before the batch' && isPlan) await (made ??= writer.commits.create(commit));
      if (moment === 'between look and deletion' && name === 'deleteMany') {
        made ??= writer.commits.create(commit);
        await written;
      }
      return call();
    },
  });
  await run(world, collector, repository);
  const { id = '' } = (await made) ?? {};
  const other = await world.engine();
  const shown = await read(other, repository, id, 'a').catch((error: unknown) => (error as EngineError).kind);
  return { read: shown, deleted: world.deleted.filter((uri) => /\/_svc\/[0-9a-f]{64}$/.test(uri)).length };
}

/** `written` when the last of its tables is. */
async function writerOf(
  world: GcWorld,
  sabotage: Sabotage | undefined,
): Promise<{ writer: Engine; written: Promise<void> }> {
  const written = Promise.withResolvers<void>();
  let tables = 0;
  const writer = await world.engine({
    around: async (name, call, about) => {
      const result = await call();
      if (name === 'put' && isTable(about as ObjectPointer) && (tables += 1) === 2) written.resolve();
      return result;
    },
    wrapTrees: (trees) => {
      if (sabotage === 'tables are not looked for') trees.areStored = () => Promise.resolve(true);
      return trees;
    },
    // Time does not pass while it waits, so nobody takes the collector for dead.
    rest: () => new Promise((resolve) => setImmediate(resolve)),
  });
  return { writer, written: written.promise };
}

async function run(world: GcWorld, engine: Engine, repository: string): Promise<void> {
  const id = await engine.gcRuns.start({ repository, user: 'tester' });
  await world.collect(engine);
  const { state, error } = await engine.gcRuns.get({ repository, run: id });
  if (state !== 'completed') throw new Error(error);
}

it('keeps tables that were written again since they were condemned', async () => {
  expect(await commitAt('before the batch')).toEqual({ read: 'one', deleted: 0 });
  const broken = await commitAt('before the batch', 'what was written again is deleted');
  expect(broken).toEqual({ read: 'corrupt', deleted: 2 });
});

it('lets a commit store tables again that a batch took while they were written', async () => {
  expect(await commitAt('between look and deletion')).toEqual({ read: 'one', deleted: 2 });
  const broken = await commitAt('between look and deletion', 'tables are not looked for');
  expect(broken).toEqual({ read: 'corrupt', deleted: 2 });
});

it.each([undefined, 'what other repositories use is not read'] as const)(
  'keeps what another repository uses, unless %s',
  async (sabotage) => {
    const world = new GcWorld();
    worlds.push(world);
    const engine = await world.engine({ wrapKv: (kv) => sabotagedCollector(kv, sabotage) });
    const [owner, user] = [await newRepository(engine), await newRepository(engine)];
    await put(engine, owner, 'main', 'a', 'old');
    const { physicalAddress } = await engine.objects.stat({ repository: owner, ref: 'main', path: 'a' });
    const brought = { repository: user, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 3 };
    await engine.objects.stage({ ...brought, mayReadRepository: () => true });
    await put(engine, owner, 'main', 'a', 'new');
    world.now += 28 * hour;
    await run(world, engine, owner);
    world.now += 8 * day;
    await run(world, engine, owner);
    const { storageNamespace } = await engine.repositories.get(owner);
    expect(await world.exists(storageNamespace, physicalAddress)).toBe(sabotage === undefined);
  },
);
