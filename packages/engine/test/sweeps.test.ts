import { BlockError, BlockStores, createMemAdapter, type BlockAdapter } from '@svc/block';
import { branchMessage, instanceHeartbeatMessage, timestampFromMillis, XidGenerator } from '@svc/encoding';
import { createMemStore, KvError, LocalCacheBus, type KvStore } from '@svc/kv';
import { describe, expect, test } from 'vitest';
import { createContext } from '../src/context/engine-context.ts';
import { RateLimit } from '../src/context/rate-limit.ts';
import { TokenCleaner } from '../src/staging/clean-tokens.ts';
import { LostStaging } from '../src/staging/lost-staging.ts';
import { removeExpired } from '../src/tasks/remove-expired.ts';
import { sweepUnknownUploads, sweepUploads } from '../src/uploads/sweep-uploads.ts';
import { watched, type StoreCall } from './failing-store.ts';
import { actor, commit, contents, createWorld, newRepository, put, read, type World } from './fixture.ts';

const hour = 3_600_000;
const day = 24 * hour;

/** What the jobs of a server on the world's stores work with. */
function jobsOf(world: World, wrapKv: (kv: KvStore) => KvStore = (kv) => kv) {
  return createContext({
    kv: wrapKv(createMemStore(world.state)),
    blockStores: new BlockStores([world.adapter]),
    trees: world.trees,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret-key',
    clock: () => world.now,
  });
}

async function partitions(world: World, pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for await (const partition of createMemStore(world.state).partitions()) {
    if (pattern.test(partition.toString())) found.push(partition.toString());
  }
  return found;
}

describe('expired uploads', () => {
  async function withUploads(paths: readonly string[]) {
    const failing = new Set<string>();
    const mem = createMemAdapter();
    const aborted: string[] = [];
    const adapter = new Proxy(mem, {
      get(target, name) {
        if (name === 'abortMultipart') {
          return async (upload: Parameters<BlockAdapter['abortMultipart']>[0]) => {
            if (failing.has(upload.uploadId)) throw new BlockError('unavailable', 'the store is gone');
            aborted.push(upload.uploadId);
            await target.abortMultipart(upload);
          };
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    const world = createWorld(undefined, adapter);
    const engine = world.engine();
    const repository = await newRepository(engine);
    const create = (path: string) => engine.uploads.create({ repository, branch: 'main', path, owner: 'me' });
    const ids = new Map<string, string>();
    for (const path of paths) ids.set(path, (await create(path)).uploadId);
    const open = async () => (await engine.uploads.list({ repository })).uploads.map(({ path }) => path);
    return { world, engine, repository, ids, open, failing, aborted, mem };
  }

  test('are ended one by one: a store that fails for one keeps no other', async () => {
    const { world, repository, open, failing, mem } = await withUploads(['a', 'b', 'c', 'd']);
    world.now += 8 * day;
    const { storageNamespace } = await world.engine().repositories.get(repository);
    const stored: string[] = [];
    for await (const { uploadId } of mem.staleUploads(storageNamespace, new Date(Date.now() + day))) {
      stored.push(uploadId);
    }
    failing.add(stored[0]!);
    failing.add(stored[2]!);
    await sweepUploads(jobsOf(world));
    expect(await open()).toHaveLength(2);
    failing.clear();
    await sweepUploads(jobsOf(world));
    expect(await open()).toEqual([]);
    expect(await partitions(world, /^multipart/)).toEqual([]);
  });

  test('stay when the round has to end before its next step', async () => {
    const { world, open } = await withUploads(['a', 'b', 'c']);
    world.now += 8 * day;
    let steps = 0;
    await sweepUploads(jobsOf(world), { mayGoOn: () => Promise.resolve(++steps <= 1) });
    expect(await open()).toHaveLength(2);
    await sweepUnknownUploads(jobsOf(world), { mayGoOn: () => Promise.resolve(false) });
    expect(await open()).toHaveLength(2);
  });

  test('are not those whose parts still come', async () => {
    const { world, engine, repository, ids, open } = await withUploads(['slow', 'idle']);
    world.now += 6 * day;
    const slow = { repository, branch: 'main', path: 'slow', uploadId: ids.get('slow')! };
    const part = await engine.uploads.putPart({ ...slow, partNumber: 1, body: Buffer.from('slowly') });
    world.now += 3 * day;
    await sweepUploads(jobsOf(world));
    expect(await open()).toEqual(['slow']);
    await engine.uploads.complete({ ...slow, parts: [part] });
    world.now += 2 * day;
    await sweepUploads(jobsOf(world));
    expect(await read(engine, repository, 'main', 'slow')).toBe('slowly');
  });

  test('that no record knows are ended in the store, others and foreign ones are not', async () => {
    const { world, engine, repository, ids, aborted, mem } = await withUploads(['known']);
    const { storageNamespace } = await engine.repositories.get(repository);
    const at = (identifier: string) =>
      ({ storageNamespace, identifier, identifierType: 'relative' }) as const;
    const lost = await mem.createMultipart(at('data/gjth405anf614d2mf280/cl9v205anf614d2mf280'));
    await mem.createMultipart(at('elsewhere/of-somebody-else'));
    // The store's clock is the real one.
    world.now = Date.now();
    await sweepUnknownUploads(jobsOf(world));
    expect(aborted).toEqual([]);
    // An address of today, whatever the store says of its upload.
    const today = new XidGenerator({ clock: () => Date.now() + 8 * day }).next();
    await mem.createMultipart(at(`data/gjth405anf614d2mf280/${today}`));
    world.now = Date.now() + 9 * day;
    await sweepUnknownUploads(jobsOf(world));
    expect(aborted).toEqual([lost]);
    expect(ids.size).toBe(1);
  });
});

test('a task that runs for more than a day is not forgotten while its owner lives', async () => {
  const world = createWorld();
  const held = Promise.withResolvers<void>();
  let calls = 0;
  const engine = world.engine({
    wrapKv: (kv) =>
      watched(kv, async ({ key, method }) => {
        // The task's own work waits where it looks for the state of the collection.
        if (method === 'get' && key === 'gc/state' && (calls += 1) === 1) await held.promise;
      }),
  });
  const repository = await newRepository(engine);
  const taskId = await engine.gc.submitPrepareCommits(repository);
  const jobs = jobsOf(world);
  world.now += 25 * hour;
  // As the owner's timer does.
  await beat(world);
  await removeExpired(jobs);
  expect(await engine.gc.prepareCommitsStatus({ repository, taskId })).toMatchObject({ done: false });
  held.resolve();
  await engine.close();
  expect(await world.engine().gc.prepareCommitsStatus({ repository, taskId })).toMatchObject({ done: true });
  world.now += 25 * hour;
  await removeExpired(jobs);
  await expect(world.engine().gc.prepareCommitsStatus({ repository, taskId })).rejects.toThrow('not found');
});

/** Renews every heartbeat there is. */
async function beat(world: World): Promise<void> {
  const kv = createMemStore(world.state);
  const partition = Buffer.from('catalog');
  for await (const page of kv.scan(partition)) {
    for (const { key } of page) {
      const value = instanceHeartbeatMessage.encode({ updatedAt: timestampFromMillis(world.now) });
      await kv.set(partition, key, value);
    }
  }
}

test('one record that cannot be removed keeps no other expired one', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repositories = [await newRepository(engine), await newRepository(engine)];
  const tasks: string[] = [];
  for (const repository of repositories) tasks.push(await engine.gc.submitPrepareCommits(repository));
  await engine.close();
  world.now += 25 * hour;
  const fails = ({ key, method }: StoreCall): void => {
    if (key === `tasks/${tasks[0]}` && method.startsWith('delete')) throw new KvError('unavailable', 'gone');
  };
  await removeExpired(jobsOf(world, (kv) => watched(kv, fails)));
  const status = (index: number) =>
    world.engine().gc.prepareCommitsStatus({ repository: repositories[index]!, taskId: tasks[index]! });
  expect(await status(0)).toMatchObject({ done: true });
  await expect(status(1)).rejects.toThrow('not found');
});

describe('staging that a crash has cut off', () => {
  const tokens = /:[0-9a-f]{8}-/;

  async function crashAfterMove() {
    const world = createWorld();
    let crashed = true;
    const engine = world.engine({
      wrapKv: (kv) =>
        watched(kv, ({ partition }) => {
          if (partition === 'cleanup-tokens' && crashed) throw new KvError('unavailable', 'the process died');
        }),
    });
    const repository = await newRepository(engine);
    await put(engine, repository, 'main', 'a', '1');
    // The head has moved by then: that the token was not handed over is no reason to refuse.
    await commit(engine, repository, 'main');
    crashed = false;
    return { world, engine, repository };
  }

  test('is found and removed, and nothing else', async () => {
    const { world, engine, repository } = await crashAfterMove();
    await put(engine, repository, 'main', 'b', 'staged');
    await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
    await put(engine, repository, 'dev', 'c', 'other');
    expect(await partitions(world, tokens)).toHaveLength(3);
    const context = jobsOf(world);
    const lost = new LostStaging(context);
    const cleaner = new TokenCleaner(context, new RateLimit(0));
    expect(await lost.run()).toBe(0);
    world.now += 23 * hour;
    expect(await lost.run()).toBe(0);
    world.now += 2 * hour;
    expect(await lost.run()).toBe(1);
    for (let round = 0; round < 4; round += 1) {
      await cleaner.run();
      world.now += 61_000;
    }
    expect(await partitions(world, tokens)).toHaveLength(2);
    expect(await contents(engine, repository, 'main')).toEqual({ a: '1', b: 'staged' });
    expect(await contents(engine, repository, 'dev')).toEqual({ a: '1', c: 'other' });
    expect(await partitions(world, /^cleanup-tokens$/)).toEqual([]);
  });

  test('is not what an operation fills before it names it', async () => {
    const world = createWorld();
    const engine = world.engine();
    const repository = await newRepository(engine);
    const kv = createMemStore(world.state);
    const token = `${repository}-main:7c9e6679-7425-40de-944b-e07fc1f90ae7`;
    await kv.set(Buffer.from(token), Buffer.from('a'), Buffer.from([0x0a, 0x01, 0x61]));
    const lost = new LostStaging(jobsOf(world));
    await lost.run();
    world.now += 12 * hour;
    await lost.run();
    // Named at last, and dropped again later: its day begins anew.
    const [name = ''] = await partitions(world, new RegExp(`^${repository}-[0-9a-v]{20}$`));
    const [partition, key] = [Buffer.from(name), Buffer.from('branches/main')];
    const data = branchMessage.decode((await kv.get(partition, key))!.value);
    await kv.set(partition, key, branchMessage.encode({ ...data, sealedTokens: [token] }));
    world.now += 13 * hour;
    expect(await lost.run()).toBe(0);
    await kv.set(partition, key, branchMessage.encode(data));
    world.now += hour;
    expect(await lost.run()).toBe(0);
    world.now += 25 * hour;
    expect(await lost.run()).toBe(1);
  });

  test('includes parts whose upload is gone', async () => {
    const world = createWorld();
    const kv = createMemStore(world.state);
    await kv.set(Buffer.from('multipart-parts:gone'), Buffer.from('00001'), Buffer.from('x'));
    const engine = world.engine();
    const repository = await newRepository(engine);
    const place = { repository, branch: 'main', path: 'big' };
    const { uploadId } = await engine.uploads.create({ ...place, owner: 'me' });
    await engine.uploads.putPart({ ...place, uploadId, partNumber: 1, body: Buffer.from('x') });
    const lost = new LostStaging(jobsOf(world));
    await lost.run();
    world.now += 25 * hour;
    await lost.run();
    expect(await partitions(world, /^multipart-parts:/)).toEqual([`multipart-parts:${uploadId}`]);
  });
});

test('a retired token that cannot be cleaned keeps no other from it', async () => {
  const world = createWorld();
  const kv = createMemStore(world.state);
  const names = ['bad', 'good-1', 'good-2', 'good-3'];
  for (const name of names) {
    await kv.set(Buffer.from('cleanup-tokens'), Buffer.from(name), Buffer.from('stub-value'));
    await kv.set(Buffer.from(name), Buffer.from('key'), Buffer.from('value'));
  }
  const fails = ({ partition, method }: StoreCall): void => {
    if (partition === 'bad' && method === 'delete') throw new KvError('unavailable', 'gone');
  };
  const cleaner = new TokenCleaner(
    jobsOf(world, (store) => watched(store, fails)),
    new RateLimit(0),
  );
  for (let round = 0; round < 4; round += 1) {
    await cleaner.run();
    world.now += 61_000;
  }
  expect(await partitions(world, /^(bad|good)/)).toEqual(['bad']);
});
