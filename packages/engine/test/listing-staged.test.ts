import type { KvScanOptions, KvStore } from '@svc/kv';
import * as fc from 'fast-check';
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

/** A store that answers later, as those of other machines do, and notes how often somebody began to wait for a scan. */
function remote(kv: KvStore, waits = { count: 0 }): KvStore {
  let underWay = 0;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'valueAtOnce' || name === 'firstKeyAtOnce') return undefined;
      if (name !== 'scan') return typeof member === 'function' ? member.bind(target) : member;
      return async function* (partition: Uint8Array, options?: KvScanOptions) {
        for (const pages = target.scan(partition, options); ;) {
          if (underWay === 0) waits.count += 1;
          underWay += 1;
          await new Promise(setImmediate);
          underWay -= 1;
          const page = await pages.next();
          if (page.done === true) return;
          yield page.value;
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

test('a page of folders with much or little staged in each hardly waits', async () => {
  const waits = { count: 0 };
  const engine = createWorld().engine({ wrapKv: (kv) => remote(kv, waits) });
  const repository = await newRepository(engine);
  const folders = 24;
  const fill = async (place: string, from: number, to: number): Promise<void> => {
    for (let folder = 0; folder < folders; folder += 1)
      for (let n = from; n < to; n += 1)
        await put(
          engine,
          repository,
          'main',
          `${place}/${String(folder).padStart(2, '0')}/${String(n).padStart(3, '0')}`,
          '',
        );
  };
  await fill('much', 0, 2);
  await commit(engine, repository, 'main');
  await fill('much', 2, 42);
  await fill('little', 0, 5);
  await engine.objects.delete({ repository, branch: 'main', path: 'much/05/000' });
  await put(engine, repository, 'main', 'much/05a/x', '');
  const page = async (prefix: string): Promise<[string[], number]> => {
    waits.count = 0;
    const items = await engine.objects.list({ repository, ref: 'main', delimiter: '/', prefix, amount: 20 });
    return [items.toArray().map(({ path }) => path.slice(prefix.length)), waits.count];
  };
  const names = Array.from({ length: 20 }, (_, n) => `${String(n).padStart(2, '0')}/`);
  const [much, waitsForMuch] = await page('much/');
  expect(much).toEqual([...names.slice(0, 6), '05a/', ...names.slice(6, 19)]);
  expect(waitsForMuch).toBeLessThanOrEqual(6);
  const [little, waitsForLittle] = await page('little/');
  expect(little).toEqual(names);
  expect(waitsForLittle).toBeLessThanOrEqual(6);
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

test('pages of any size show what is committed and staged, without what was deleted', async () => {
  const name = fc.stringMatching(/^[ab]{1,2}(\/[ab]{1,2})?$/);
  const names = fc.uniqueArray(name, { maxLength: 12 });
  const asked = fc.record({
    amount: fc.integer({ min: 1, max: 6 }),
    prefix: fc.constantFrom('', 'a', 'b/', 'ab'),
    delimiter: fc.constantFrom('', '/'),
  });
  const cases = fc.record({
    committed: names,
    written: names,
    deleted: names,
    asked: fc.array(asked),
    isRemote: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ committed, written, deleted, asked, isRemote }) => {
      const engine = createWorld().engine(isRemote ? { wrapKv: (kv) => remote(kv) } : {});
      const repository = await newRepository(engine);
      const change = (path: string): Promise<unknown> => put(engine, repository, 'main', path, '');
      for (const path of committed) await change(path);
      if (committed.length > 0) await commit(engine, repository, 'main');
      for (const path of written) await change(path);
      for (const path of deleted) await engine.objects.delete({ repository, branch: 'main', path });
      const there = [...new Set([...committed, ...written])].filter((path) => !deleted.includes(path));
      for (const { prefix, delimiter, amount } of asked) {
        const shown = there
          .filter((path) => path.startsWith(prefix))
          .map((path) => {
            const end = delimiter === '' ? -1 : path.indexOf(delimiter, prefix.length);
            return end < 0 ? path : path.slice(0, end + 1);
          });
        const found = await paths(engine, repository, 'main', { amount, prefix, delimiter });
        expect(found).toEqual([...new Set(shown)].toSorted());
      }
      await engine.close();
    }),
    { numRuns: 60 },
  );
});
