import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, commit, put, read, refusal } from './fixture.ts';
import { day, GcWorld } from './gc-world.ts';

const namespace = 'mem://bucket/sales';
const mayRead = { mayReadRepository: () => true };

let world: GcWorld;
let engine: Engine;
let instance: string;

beforeEach(async () => {
  world = new GcWorld();
  engine = await world.engine();
  await engine.repositories.create({ name: 'sales', storageNamespace: namespace, actor });
  instance = (await engine.repositories.get('sales')).instanceUid;
  await put(engine, 'sales', 'main', 'a', 'committed');
  await commit(engine, 'sales', 'main');
  await put(engine, 'sales', 'main', 'b', 'staged');
});

afterEach(() => world.close());

async function run(name: string): Promise<void> {
  const job = engine.jobs.find((each) => each.name === name);
  await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
}

/** What the server does when the time in the trash is over. */
async function purge(): Promise<void> {
  await tellEvents();
  for (let round = 0; round < 3; round += 1) await run('empty-namespaces');
}

/** Nothing is removed that the log of events has not seen. */
async function tellEvents(): Promise<void> {
  const partition = Buffer.from(`sales-${instance}`);
  for await (const page of world.kv.scan(partition, { prefix: Buffer.from('outbox/') })) {
    for (const { key } of page) await world.kv.delete(partition, key);
  }
}

const left = (): Promise<string[]> => world.keys(namespace);

async function putFile(identifier: string): Promise<void> {
  const pointer = { storageNamespace: namespace, identifier, identifierType: 'relative' } as const;
  await world.adapter.put(pointer, Buffer.from('x'));
}

it('deletes the data when the time in the trash is over, and not before', async () => {
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true });
  world.now += 6 * day;
  await purge();
  expect((await left()).length).toBeGreaterThan(4);
  await engine.repositories.restore({ instance, actor });
  expect([await read(engine, 'sales', 'main', 'a'), await read(engine, 'sales', 'main', 'b')]).toEqual([
    'committed',
    'staged',
  ]);
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true });
  world.now += 8 * day;
  await purge();
  expect(await left()).toEqual([]);
  expect((await refusal(engine.repositories.restore({ instance, actor }))).kind).toBe('not_found');
  await engine.repositories.create({ name: 'next', storageNamespace: namespace, actor });
});

it('leaves files that are not ours, and says so', async () => {
  const foreign = [
    'notes.txt',
    'data/notes.txt',
    'data/x/y',
    '_svc/readme',
    'symlinks/other/main/symlink.txt',
  ];
  for (const key of foreign) await putFile(key);
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true, purge: true });
  await purge();
  expect((await left()).toSorted()).toEqual(foreign.toSorted());
});

it('leaves what another repository uses', async () => {
  await engine.repositories.create({ name: 'reader', storageNamespace: 'mem://bucket/reader', actor });
  const { physicalAddress, address } = await engine.objects.stat({
    repository: 'sales',
    ref: 'main',
    path: 'a',
  });
  const brought = {
    repository: 'reader',
    branch: 'main',
    path: 'x',
    physicalAddress,
    checksum: 'c',
    size: 9,
  };
  await engine.objects.stage({ ...brought, ...mayRead });
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true, purge: true });
  await purge();
  expect(await left()).toEqual([address]);
  expect(await read(engine, 'reader', 'main', 'x')).toBe('committed');
});

it('leaves a namespace that a bare repository has taken over', async () => {
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true });
  const heir = { name: 'heir', storageNamespace: namespace, bare: true, actor, ...mayRead };
  await engine.repositories.create(heir);
  const before = await left();
  world.now += 8 * day;
  await purge();
  expect(await left()).toEqual(before);
});

it('deletes it for an heir, too, when the first owner was purged and still has something to tell', async () => {
  await engine.repositories.delete({ repository: 'sales', actor, purge: true });
  const heir = { name: 'heir', storageNamespace: namespace, bare: true, actor, ...mayRead };
  await engine.repositories.create(heir);
  await engine.repositories.delete({ repository: 'heir', actor, deleteData: true, purge: true });
  for (let round = 0; round < 3; round += 1) await run('empty-namespaces');
  expect(await left()).toEqual([]);
});

it('lets nobody take the namespace, or bring the repository back, once it is being emptied', async () => {
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true, purge: true });
  await run('empty-namespaces');
  const heir = { name: 'heir', storageNamespace: namespace, bare: true, actor, ...mayRead };
  expect((await refusal(engine.repositories.create(heir))).message).toContain('is being emptied');
  expect((await refusal(engine.repositories.restore({ instance, actor }))).kind).toBe('already_exists');
});

it('keeps the data of a namespace that another installation collects', async () => {
  const other = { instance_uid: 'another', generation: 1, run_id: 'theirs', time: 'now' };
  const identifier = '_svc/retention/gc/svc/owner.json';
  const pointer = { storageNamespace: namespace, identifier, identifierType: 'relative' } as const;
  await world.adapter.put(pointer, Buffer.from(JSON.stringify(other)));
  const before = await left();
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true, purge: true });
  await purge();
  const after = await left();
  expect(before.every((key) => after.includes(key))).toBe(true);
  expect((await engine.repositories.listDeleted({})).items).toEqual([]);
});

it('goes on after a crash', async () => {
  await engine.repositories.delete({ repository: 'sales', actor, deleteData: true, purge: true });
  await tellEvents();
  let calls = 0;
  const dying = await world.engine({
    around: (name, call) => {
      calls += 1;
      if (name === 'deleteOne' && calls > 3) throw new Error('gone');
      return call();
    },
  });
  const job = dying.jobs.find((each) => each.name === 'empty-namespaces');
  for (let round = 0; round < 2; round += 1) {
    await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
  }
  expect((await left()).length).toBeGreaterThan(0);
  await purge();
  world.now += 61_000;
  await purge();
  expect(await left()).toEqual([]);
});
