import type { KvScanOptions, KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { createWorld, newRepository, paths, put } from './fixture.ts';

/** A store that notes how many entries each scan of a partition gave. */
function counting(kv: KvStore, given: Map<string, number>): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== 'scan') return typeof member === 'function' ? member.bind(target) : member;
      return async function* (partition: Uint8Array, options?: KvScanOptions) {
        const place = Buffer.from(partition).toString();
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
