import type { KvScanOptions, KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { commit, createWorld, newRepository, paths, put } from './fixture.ts';

/** A store that notes how many entries the scans of a partition gave, and how many scans there were. */
function counting(kv: KvStore, given: Map<string, number>, begun = new Map<string, number>()): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== 'scan') return typeof member === 'function' ? member.bind(target) : member;
      return async function* (partition: Uint8Array, options?: KvScanOptions) {
        const place = Buffer.from(partition).toString();
        begun.set(place, (begun.get(place) ?? 0) + 1);
        for await (const page of target.scan(partition, options)) {
          given.set(place, (given.get(place) ?? 0) + page.length);
          yield page;
        }
      };
    },
  });
}

test('a page of a branch reads hardly more staged entries than it shows', async () => {
  const world = createWorld();
  const given = new Map<string, number>();
  const engine = world.engine({ wrapKv: (kv) => counting(kv, given) });
  const repository = await newRepository(engine);
  for (let n = 0; n < 300; n += 1)
    await put(engine, repository, 'main', `f${String(n).padStart(3, '0')}`, '');
  for (const name of ['folder/a', 'folder/b', 'g']) await put(engine, repository, 'main', name, '');
  const most = async (list: () => Promise<unknown>): Promise<number> => {
    given.clear();
    await list();
    return Math.max(0, ...given.values());
  };
  const page = { repository, ref: 'main', amount: 10 };
  expect(await most(() => engine.objects.list(page))).toBe(11);
  expect(await most(() => engine.objects.list({ ...page, after: 'f100', amount: 50 }))).toBe(51);
  expect(await most(() => engine.objects.list({ ...page, prefix: 'folder/', amount: 1000 }))).toBe(2);
  expect(await paths(engine, repository, 'main', { amount: 7 })).toHaveLength(303);
  expect(await paths(engine, repository, 'main', { amount: 1, delimiter: '/', prefix: 'f' })).toHaveLength(
    301,
  );
  await engine.close();
});

test('a page of folders reads what is staged once, however many folders it passes', async () => {
  const world = createWorld();
  const [given, begun] = [new Map<string, number>(), new Map<string, number>()];
  const engine = world.engine({ wrapKv: (kv) => counting(kv, given, begun) });
  const repository = await newRepository(engine);
  const names = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, '0')}/x`);
  for (const name of names) await put(engine, repository, 'main', name, '');
  await commit(engine, repository, 'main');
  const folders = { repository, ref: 'main', amount: 100, delimiter: '/' };
  const scans = async (): Promise<number> => {
    begun.clear();
    expect((await engine.objects.list(folders)).toArray()).toHaveLength(60);
    return Math.max(...begun.values());
  };
  expect(await scans()).toBe(1);
  for (const name of ['10/y', '20/y', '20/z']) await put(engine, repository, 'main', name, '');
  expect(await scans()).toBe(1);
  await engine.close();
});

test('a page reads no staged entries behind its last committed one', async () => {
  const world = createWorld();
  const given = new Map<string, number>();
  const engine = world.engine({ wrapKv: (kv) => counting(kv, given) });
  const repository = await newRepository(engine);
  const name = (n: number): string => `f${String(n).padStart(3, '0')}`;
  for (let n = 0; n < 200; n += 2) await put(engine, repository, 'main', name(n), '');
  await commit(engine, repository, 'main');
  const staged = async (list: object): Promise<[string[], number]> => {
    given.clear();
    const page = await engine.objects.list({ repository, ref: 'main', ...list });
    return [page.toArray().map(({ path }) => path), Math.max(0, ...given.values())];
  };
  for (let n = 1; n < 200; n += 20) await put(engine, repository, 'main', name(n), '');
  expect(await staged({ amount: 10 })).toEqual([
    ['f000', 'f001', 'f002', 'f004', 'f006', 'f008', 'f010', 'f012', 'f014', 'f016'],
    1,
  ]);
  expect(await staged({ amount: 3, after: 'f002' })).toEqual([['f004', 'f006', 'f008'], 0]);
  // What was deleted makes room for more.
  for (let n = 0; n < 40; n += 2) await engine.objects.delete({ repository, branch: 'main', path: name(n) });
  expect((await staged({ amount: 4 }))[0]).toEqual(['f001', 'f021', 'f040', 'f041']);
  await engine.close();
});
