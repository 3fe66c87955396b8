import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { noDays } from './external-collector.ts';
import { actor, commit, newRepository, put, read } from './fixture.ts';
import { day, GcWorld, hour, tellEvents } from './gc-world.ts';

let world: GcWorld;
let engine: Engine;
let repository: string;

beforeEach(async () => {
  world = new GcWorld();
  engine = await world.engine();
  repository = await newRepository(engine);
  await engine.gc.setRules({ repository, rules: noDays });
});

afterEach(() => world.close());

/** Without a window: the address goes now if nothing keeps it. */
async function collect(): Promise<void> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', hard: true });
  await world.collect(engine);
  const { state, error } = await engine.gcRuns.get({ repository, run });
  if (state !== 'completed') throw new Error(error);
}

async function isThere(ref: string, path = 'a'): Promise<boolean> {
  const { address } = await engine.objects.stat({ repository, ref, path });
  const { storageNamespace } = await engine.repositories.get(repository);
  return world.exists(storageNamespace, address);
}

/** Commits that only the first of them, and then nobody, is shown by. */
async function history(values: readonly string[], apartMs = 0): Promise<string[]> {
  const ids: string[] = [];
  for (const value of values) {
    await put(engine, repository, 'main', 'a', value);
    ids.push(await commit(engine, repository, 'main'));
    world.now += apartMs;
  }
  return ids;
}

it('keeps what an alias or a view is pinned to, until it is moved away', async () => {
  const [one = '', two = '', three = ''] = await history(['one', 'two', 'three', 'four']);
  const target = (ref: string) => ({ repository, ref, pin: true });
  await engine.bindings.createAlias({ name: 'prod', target: target(one), actor });
  await engine.bindings.setView({ accessKeyId: 'AKIA', bucket: 'mine', target: target(two), actor });
  world.now += 28 * hour;
  await collect();
  expect([await isThere(one), await isThere(two), await isThere(three)]).toEqual([true, true, false]);
  await engine.bindings.setAlias({ name: 'prod', target: { repository, ref: 'main' }, actor });
  await engine.bindings.deleteView({ accessKeyId: 'AKIA', actor });
  world.now += 28 * hour;
  await collect();
  expect([await isThere(one), await isThere(two)]).toEqual([false, false]);
});

it('keeps every position that an alias with a moving time will show', async () => {
  const [old = '', first = '', second = ''] = await history(['old', 'one', 'two', 'three'], 2 * day);
  // Six days ago the branch stood at the first; the others follow one by one.
  const target = { repository, ref: 'main@{7 days ago}' };
  await engine.bindings.createAlias({ name: 'lagging', target, actor });
  world.now += 28 * hour;
  await collect();
  expect([await isThere(old), await isThere(first), await isThere(second)]).toEqual([false, true, true]);
});

it('keeps what a reset took away until its record has expired', async () => {
  const [one = '', two = ''] = await history(['one', 'two']);
  await engine.branches.hardReset({ repository, branch: 'main', ref: one, actor });
  world.now += 3 * day;
  await collect();
  expect(await isThere(two)).toBe(true);
  await tellEvents(world, engine, repository);
  await engine.reflog.expire({ repository, before: world.now - 28 * hour });
  await collect();
  expect(await isThere(two)).toBe(false);
});

it('keeps what a repository in the trash uses, though nobody ever registered it', async () => {
  await put(engine, repository, 'main', 'a', 'shared');
  const { physicalAddress, address } = await engine.objects.stat({ repository, ref: 'main', path: 'a' });
  const { storageNamespace } = await engine.repositories.get(repository);
  const user = await newRepository(engine);
  const { instanceUid } = await engine.repositories.get(user);
  const brought = { repository: user, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 6 };
  await engine.objects.stage({ ...brought, mayReadRepository: () => true });
  await engine.objects.delete({ repository, branch: 'main', path: 'a' });
  await engine.repositories.delete({ repository: user, actor });
  await forgetRegister(`${user}-${instanceUid}`);
  world.now += 28 * hour;
  await collect();
  expect(await world.exists(storageNamespace, address)).toBe(true);
  await engine.repositories.restore({ instance: instanceUid, actor });
  expect(await read(engine, user, 'main', 'b')).toBe('shared');

  await engine.repositories.delete({ repository: user, actor, purge: true });
  await collect();
  expect(await world.exists(storageNamespace, address)).toBe(false);
});

/** As in a repository that is older than the register. */
async function forgetRegister(partition: string): Promise<void> {
  const { kv } = world;
  await kv.delete(Buffer.from(partition), Buffer.from('gc/foreign-known'));
  const all = Buffer.from('gc');
  for await (const page of kv.scan(all, { prefix: Buffer.from('foreign/') })) {
    for (const { key } of page) await kv.delete(all, key);
  }
}
