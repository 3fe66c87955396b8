import { expect, test } from 'vitest';
import { createMemStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { wholeRound } from '../src/face/jobs.ts';
import {
  actor,
  changes,
  commit,
  contents,
  createWorld,
  put,
  refusal,
  refusalKind,
  type World,
} from './fixture.ts';

const day = 24 * 3_600_000;
const anna = { committer: 'Anna', userId: 'anna' };
const namespace = 'mem://bucket/sales';
const mayRead = { mayReadRepository: () => Promise.resolve(true) };

async function sales(): Promise<{ world: World; engine: Engine; instance: string }> {
  const world = createWorld();
  const engine = world.engine();
  await engine.repositories.create({ name: 'sales', storageNamespace: namespace, actor });
  await put(engine, 'sales', 'main', 'committed', '1');
  await commit(engine, 'sales', 'main');
  await engine.branches.create({ repository: 'sales', name: 'dev', source: 'main', actor });
  await put(engine, 'sales', 'dev', 'staged', '2');
  await engine.tags.create({ repository: 'sales', id: 'v1', ref: 'main', actor });
  await engine.pulls.create({
    repository: 'sales',
    title: 'p',
    source: 'dev',
    destination: 'main',
    actor,
  });
  const { instanceUid } = await engine.repositories.get('sales');
  return { world, engine, instance: instanceUid };
}

/** Stores have private fields: their methods want themselves. */
function bindTo(target: object, value: unknown): unknown {
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}

function job(engine: Engine, name: string): (round?: typeof wholeRound) => Promise<unknown> {
  const found = engine.jobs.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no job ${name}`);
  const run = found.begin();
  return () => run(wholeRound);
}

/** As the keeper does once the events of a repository are in the log. */
async function tellAll(world: World, instance: string): Promise<void> {
  const kv = createMemStore(world.state);
  const partition = Buffer.from(`sales-${instance}`);
  for await (const page of kv.scan(partition, { prefix: Buffer.from('outbox/') }))
    await kv.deleteMany(
      partition,
      page.map(({ key }) => key),
    );
}

async function keysOf(world: World, partition: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of createMemStore(world.state).scan(Buffer.from(partition)))
    keys.push(...page.map(({ key }) => key.toString('latin1')));
  return keys;
}

test('a deleted repository is listed with who and when, and comes back with everything', async () => {
  const { world, engine, instance } = await sales();
  await engine.repositories.delete({ repository: 'sales', actor: anna });
  expect(await refusalKind(engine.repositories.get('sales'))).toBe('not_found');
  const { items } = await engine.repositories.listDeleted({});
  expect(items).toMatchObject([
    { id: 'sales', instance, deletedBy: 'anna', deleteData: false, displacedBy: undefined },
  ]);
  expect((items[0]?.restorableUntil.seconds ?? 0) * 1000).toBe(world.now + 30 * day);
  // What is staged is nobody's, unless somebody looks into the trash.
  const lost = job(engine, 'find-lost-staging');
  await lost();
  world.now += 2 * day;
  await lost();
  await job(engine, 'clean-tokens')();
  world.now += day;
  await job(engine, 'clean-tokens')();

  const back = await engine.repositories.restore({ instance, actor });
  expect(back).toMatchObject({ id: 'sales', instanceUid: instance, state: 'active' });
  expect(await contents(engine, 'sales', 'dev')).toEqual({ committed: '1', staged: '2' });
  expect(await changes(engine, 'sales', 'dev')).toEqual(['added staged']);
  expect((await engine.tags.get({ repository: 'sales', id: 'v1' })).id).toBe('v1');
  expect((await engine.pulls.list({ repository: 'sales', status: 'open' })).items).toHaveLength(1);
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
  expect(await refusalKind(engine.repositories.restore({ instance, actor }))).toBe('not_found');
  // It has its namespace again.
  expect(
    await refusal(
      engine.repositories.create({ name: 'other', storageNamespace: namespace, bare: true, actor }),
    ),
  ).toMatchObject({ message: expect.stringContaining("repository 'sales'") as string });
});

test('the deletion is one change, and a crash before or after it leaves one of two states', async () => {
  const { world, instance } = await sales();
  for (const when of ['before', 'after'] as const) {
    const broken = world.engine({
      wrapKv: (kv) =>
        new Proxy(kv, {
          get: (target, name) =>
            name === 'change'
              ? async (...args: Parameters<typeof kv.change>) => {
                  if (when === 'after') await target.change(...args);
                  throw new Error('killed');
                }
              : bindTo(target, Reflect.get(target, name)),
        }),
    });
    await expect(broken.repositories.delete({ repository: 'sales', actor })).rejects.toThrow('killed');
    const fresh = world.engine();
    const deleted = (await fresh.repositories.listDeleted({})).items.map((each) => each.instance);
    const kinds = (await keysOf(world, 'graveler')).filter((key) => key.startsWith('outbox/')).length;
    expect([when, deleted, kinds]).toEqual([
      when,
      when === 'before' ? [] : [instance],
      when === 'before' ? 1 : 2,
    ]);
    if (when === 'before') expect((await fresh.repositories.get('sales')).id).toBe('sales');
  }
});

test('a namesake keeps its upload and its namespace through the purge of the older one', async () => {
  const { world, engine, instance } = await sales();
  await engine.repositories.delete({ repository: 'sales', actor });
  await engine.repositories.create({ name: 'sales', storageNamespace: 'mem://bucket/sales-2', actor });
  const upload = await engine.uploads.create({
    repository: 'sales',
    branch: 'main',
    path: 'big',
    owner: 'o',
  });
  expect(await refusal(engine.repositories.restore({ instance, actor }))).toMatchObject({
    kind: 'already_exists',
    message: "a repository 'sales' exists: delete it, then restore the older one",
  });
  await engine.repositories.purge({ instance, deleteData: false });
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
  expect(await refusal(engine.repositories.restore({ instance, actor }))).toMatchObject({
    message: "repository 'sales' is being purged",
  });
  await tellAll(world, instance);
  await job(engine, 'empty-trash')();
  expect(await keysOf(world, `sales-${instance}`)).toEqual([]);
  expect((await keysOf(world, 'graveler')).filter((key) => key.startsWith('deleted/'))).toEqual([]);
  const list = await engine.uploads.list({ repository: 'sales' });
  expect(list.uploads.map((each) => each.uploadId)).toEqual([upload.uploadId]);
  expect(
    await refusalKind(
      engine.repositories.create({
        name: 'third',
        storageNamespace: 'mem://bucket/sales-2',
        bare: true,
        actor,
      }),
    ),
  ).toBe('invalid');
});

test('a namespace that was taken over neither comes back nor is emptied with the older repository', async () => {
  const { engine, instance } = await sales();
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true });
  expect(
    await refusalKind(
      engine.repositories.create({ name: 'normal', storageNamespace: namespace, actor, ...mayRead }),
    ),
  ).toBe('invalid');
  expect((await engine.repositories.listDeleted({})).items[0]?.displacedBy).toBeUndefined();
  await engine.repositories.create({
    name: 'heir',
    storageNamespace: namespace,
    bare: true,
    actor,
    ...mayRead,
  });
  expect((await engine.repositories.listDeleted({})).items[0]?.displacedBy).toBe('heir');
  await engine.repositories.delete({ repository: 'heir', actor, purge: true });
  expect(await refusal(engine.repositories.restore({ instance, actor }))).toMatchObject({
    kind: 'already_exists',
    message: expect.stringContaining("taken by repository 'heir'") as string,
  });
});

test('the trash ends when it is due; data that goes with it is left to the collector', async () => {
  const { world, engine, instance } = await sales();
  await engine.repositories.delete({ repository: 'sales', actor });
  const empty = job(engine, 'empty-trash');
  world.now += 29 * day;
  await empty();
  await empty();
  expect((await engine.repositories.listDeleted({})).items).toHaveLength(1);
  world.now += 2 * day;
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
  await empty();
  expect(await keysOf(world, `sales-${instance}`)).not.toEqual([]);
  await tellAll(world, instance);
  await empty();
  expect(await keysOf(world, `sales-${instance}`)).toEqual([]);
  expect(await keysOf(world, `pulls`)).toEqual([]);

  await engine.repositories.create({ name: 'costs', storageNamespace: 'mem://bucket/costs', actor });
  await engine.repositories.create({ name: 'reader', storageNamespace: 'mem://bucket/reader', actor });
  await engine.repositories.delete({ repository: 'costs', actor, deleteData: true });
  const staged = engine.objects.stage({
    repository: 'reader',
    branch: 'main',
    path: 'x',
    physicalAddress: 'mem://bucket/costs/data/a/b',
    checksum: 'c',
    size: 1,
    ...mayRead,
  });
  expect((await refusal(staged)).message).toBe(
    'storage namespace mem://bucket/costs waits for its data to be deleted',
  );
  world.now += 8 * day;
  await empty();
  await empty();
  expect((await keysOf(world, 'graveler')).filter((key) => key.startsWith('deleted/'))).toHaveLength(1);
});

test('with purge, or where nothing is kept, the records go at once', async () => {
  const { world, engine, instance } = await sales();
  await tellAll(world, instance);
  await engine.repositories.delete({ repository: 'sales', actor, purge: true });
  expect(await keysOf(world, `sales-${instance}`)).toEqual([]);
  const forgetful = world.engine({ settings: { reflogRetentionMs: 0 } });
  await forgetful.repositories.create({ name: 'brief', storageNamespace: 'mem://bucket/brief', actor });
  await forgetful.repositories.delete({ repository: 'brief', actor });
  expect((await forgetful.repositories.listDeleted({})).items).toEqual([]);
  await engine.repositories.create({ name: 'both', storageNamespace: 'mem://bucket/both', actor });
  const both = (await engine.repositories.get('both')).instanceUid;
  await engine.repositories.delete({ repository: 'both', actor, purge: true, deleteData: true });
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
  expect(await refusalKind(engine.repositories.restore({ instance: both, actor }))).toBe('already_exists');
});

test('what happened just before a deletion is still found by whoever tells of it, and goes only then', async () => {
  const { world, engine, instance } = await sales();
  await engine.repositories.delete({ repository: 'sales', actor });
  const partition = Buffer.from(`sales-${instance}`);
  const partitions: string[] = [];
  for await (const each of engine.outboxes.partitions()) partitions.push(each.toString());
  expect(partitions).toContain(partition.toString());
  expect(await engine.outboxes.isThere(partition)).toBe(true);
  await engine.repositories.purge({ instance, deleteData: false });
  const before = await keysOf(world, partition.toString());
  await job(engine, 'empty-trash')();
  expect(await keysOf(world, partition.toString())).toEqual(before);
  expect(await engine.outboxes.isThere(partition)).toBe(true);
  await tellAll(world, instance);
  await job(engine, 'empty-trash')();
  expect(await keysOf(world, partition.toString())).toEqual([]);
  expect(await engine.outboxes.isThere(partition)).toBe(false);
});

test('a purge removes all at once but what nobody was told of yet, which goes as soon as it was told', async () => {
  const { world, engine, instance } = await sales();
  const partition = `sales-${instance}`;
  const untold = (await keysOf(world, partition)).filter((key) => /^(moves|outbox)\//.test(key));
  await engine.repositories.delete({ repository: 'sales', actor, purge: true });
  expect(await keysOf(world, partition)).toEqual(untold);
  const partitions: string[] = [];
  for await (const each of engine.outboxes.partitions()) partitions.push(each.toString());
  expect(partitions).toContain(partition);
  expect(await engine.outboxes.isThere(Buffer.from(partition))).toBe(true);
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
  expect(await refusalKind(engine.repositories.restore({ instance, actor }))).toBe('already_exists');
  await engine.repositories.create({ name: 'sales', storageNamespace: 'mem://bucket/namesake', actor });
  await job(engine, 'empty-trash')();
  expect(await keysOf(world, partition)).toEqual(untold);
  await tellAll(world, instance);
  await job(engine, 'empty-trash')();
  expect(await keysOf(world, partition)).toEqual([]);
  expect(await refusalKind(engine.repositories.restore({ instance, actor }))).toBe('not_found');
  expect((await engine.repositories.get('sales')).storageNamespace).toBe('mem://bucket/namesake');
});

test('an alias made while the repository of its name comes back wins, and the repository can come back later', async () => {
  const { world, engine, instance } = await sales();
  await engine.repositories.create({ name: 'other', storageNamespace: 'mem://bucket/other', actor });
  await engine.repositories.delete({ repository: 'sales', actor });
  const [before] = (await engine.repositories.listDeleted({})).items;
  let made = false;
  const racing = world.engine({
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) =>
          name === 'change'
            ? async (...args: Parameters<typeof kv.change>) => {
                if (!made) {
                  made = true;
                  const target = { repository: 'other', ref: 'main' };
                  await engine.bindings.createAlias({ name: 'sales', target, actor });
                }
                return target.change(...args);
              }
            : bindTo(target, Reflect.get(target, name)),
      }),
  });
  world.now += day;
  expect((await refusal(racing.repositories.restore({ instance, actor }))).message).toBe(
    "an alias 'sales' exists: delete it first",
  );
  expect((await engine.bindings.getAlias('sales')).repository).toBe('other');
  expect(await refusalKind(world.engine().repositories.get('sales'))).toBe('not_found');
  const [after] = (await engine.repositories.listDeleted({})).items;
  expect([after?.instance, after?.restorableUntil]).toEqual([instance, before?.restorableUntil]);
  await engine.bindings.deleteAlias({ name: 'sales', actor });
  await engine.repositories.restore({ instance, actor });
  expect((await engine.repositories.get('sales')).instanceUid).toBe(instance);
});
