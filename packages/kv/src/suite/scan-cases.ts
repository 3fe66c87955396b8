import { describe, expect, test } from 'vitest';
import type { KvScanOptions } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, fill, freshPartition, numbered, readAll, readKeys } from './partitions.ts';

export function scanCases(context: SuiteContext): void {
  describe('scans', () => {
    test('100 entries, whole and from the sixth, without leaking from another partition', async () => {
      const { store } = context;
      const [partition, other] = [freshPartition(), freshPartition()];
      const keys = numbered('key', 100);
      await fill(store, partition, keys.toReversed());
      await fill(store, other, keys);
      const entries = await readAll(store, partition);
      expect(entries.map((entry) => entry.key)).toEqual(keys);
      expect(entries[7]?.value).toEqual(bytes('value of key007'));
      expect(await readKeys(store, partition, { start: keys[5] })).toEqual(keys.slice(5).map(String));
    });

    test.each([95, 99])(
      'a deletion during a scan with batch %i is seen or not, without error',
      async (batch) => {
        const { store } = context;
        const partition = freshPartition();
        const keys = numbered('key', 100);
        await fill(store, partition, keys);
        const seen: string[] = [];
        for await (const page of store.scan(partition, { batch })) {
          if (seen.length === 0) await store.delete(partition, bytes('key099'));
          seen.push(...page.map((entry) => entry.key.toString()));
        }
        expect([99, 100]).toContain(seen.length);
        expect(seen.slice(0, 99)).toEqual(keys.slice(0, 99).map(String));
      },
    );

    test('a scan ends before a key, there or not, inside a prefix or behind it', async () => {
      const { store } = context;
      const partition = freshPartition();
      await fill(store, partition, ['a', 'b1', 'b2', 'b3', 'c', 'd'].map(bytes));
      const keys = (options: KvScanOptions): Promise<string[]> => readKeys(store, partition, options);
      expect(await keys({ before: bytes('b2') })).toEqual(['a', 'b1']);
      expect(await keys({ before: bytes('b2\0'), batch: 1 })).toEqual(['a', 'b1', 'b2']);
      expect(await keys({ start: bytes('b2'), before: bytes('cc') })).toEqual(['b2', 'b3', 'c']);
      expect(await keys({ prefix: bytes('b'), before: bytes('b3') })).toEqual(['b1', 'b2']);
      expect(await keys({ prefix: bytes('b'), before: bytes('z') })).toEqual(['b1', 'b2', 'b3']);
      expect(await keys({ prefix: bytes('c'), before: bytes('b') })).toEqual([]);
      expect(await keys({ start: bytes('c'), before: bytes('c') })).toEqual([]);
      expect(await keys({ before: bytes('') })).toEqual([]);
      expect(await keys({ before: Buffer.alloc(3000, 'b') })).toEqual(['a', 'b1', 'b2', 'b3']);
      expect(await keys({ start: bytes('b2'), before: Buffer.alloc(3000, 'b') })).toEqual(['b2', 'b3']);
      expect(await keys({ prefix: Buffer.of(0xff), before: bytes('z') })).toEqual([]);
    });

    test('many scans at once read each its own', async () => {
      const { store } = context;
      const partitions = [freshPartition(), freshPartition()];
      const keys = numbered('key', 100);
      for (const partition of partitions) await fill(store, partition, keys);
      const nothingHere = freshPartition();
      const scans = Array.from({ length: 90 }, async (_, index) => {
        const partition = index % 3 === 2 ? nothingHere : (partitions[index % 3] ?? nothingHere);
        const prefix = index % 2 === 0 ? bytes(`key0${index % 10}`) : undefined;
        const expected = index % 3 === 2 ? [] : keys.slice(index).map(String);
        const isAsked = (key: string): boolean => prefix === undefined || key.startsWith(prefix.toString());
        const found = await readKeys(store, partition, {
          start: keys[index],
          prefix,
          batch: 1 + (index % 7),
        });
        expect(found).toEqual(expected.filter(isAsked));
      });
      await Promise.all(scans);
    });

    test('pages grow from the batch and are never empty', async () => {
      const partition = freshPartition();
      await fill(context.store, partition, numbered('key', 70));
      const sizes: number[] = [];
      for await (const page of context.store.scan(partition, { batch: 10 })) sizes.push(page.length);
      expect(sizes).toEqual([10, 20, 40]);
      await expect(context.store.scan(freshPartition()).next()).resolves.toMatchObject({ done: true });
    });

    test('a scan crosses the pages of the driver', async () => {
      const { store } = context;
      const partition = freshPartition();
      const keys = Array.from({ length: 2500 }, (_, index) => bytes(`k${String(index).padStart(6, '0')}`));
      await fill(store, partition, keys);
      expect(await readKeys(store, partition)).toEqual(keys.map(String));
      expect(await readKeys(store, partition, { start: keys[999], batch: 1 })).toEqual(
        keys.slice(999).map(String),
      );
    });

    test('leaving a scan early ends it', async () => {
      const { store } = context;
      const partition = freshPartition();
      await fill(store, partition, numbered('key', 30));
      const pages = store.scan(partition, { batch: 10 });
      for await (const page of pages) {
        expect(page).toHaveLength(10);
        break;
      }
      await expect(pages.next()).resolves.toMatchObject({ done: true });
      const abandoned = store.scan(partition, { batch: 10 });
      const first = abandoned.next();
      await abandoned.return?.();
      expect((await first).value).toHaveLength(10);
      await expect(abandoned.next()).resolves.toMatchObject({ done: true });
    });

    test('a prefix scan returns exactly the prefix', async () => {
      const { store } = context;
      const partition = freshPartition();
      for (const prefix of ['aaa', 'bbb', 'bbbb', 'ccc'])
        await fill(store, partition, numbered(`${prefix}/`, 20));
      const expected = numbered('bbb/', 20).map(String);
      expect(await readKeys(store, partition, { prefix: bytes('bbb/') })).toEqual(expected);
      expect(await readKeys(store, partition, { prefix: bytes('bbb/'), after: bytes('bbb/004') })).toEqual(
        expected.slice(5),
      );
      expect(await readKeys(store, partition, { prefix: bytes('bbb/'), start: bytes('aaa') })).toEqual(
        expected,
      );
      expect(await readKeys(store, partition, { prefix: bytes('bbb/'), start: bytes('c') })).toEqual([]);
      expect(await readKeys(store, partition, { prefix: bytes('zzz') })).toEqual([]);
    });

    test('prefixes that end in 0xff bytes have an end, or none', async () => {
      const { store } = context;
      const partition = freshPartition();
      const keys = [[0x61, 0xff], [0x61, 0xff, 0x01], [0x62], [0xff], [0xff, 0xff], [0xff, 0xff, 0x00]];
      for (const key of keys) await store.set(partition, Buffer.from(key), bytes('v'));
      const scan = async (prefix: number[]): Promise<number[][]> =>
        (await readAll(store, partition, { prefix: Buffer.from(prefix) })).map((entry) => [...entry.key]);
      expect(await scan([0x61, 0xff])).toEqual(keys.slice(0, 2));
      expect(await scan([0xff])).toEqual(keys.slice(3));
      expect(await scan([0xff, 0xff])).toEqual(keys.slice(4));
    });

    test('one reads while another deletes, with nested prefixes', async () => {
      const { store } = context;
      const prefixes = ['pref', 'prefin', 'prefinin'];
      for (const reading of prefixes) {
        for (const deleting of prefixes) {
          const partition = freshPartition();
          const keys = prefixes.flatMap((prefix) => numbered(`${prefix}/`, 100));
          await fill(store, partition, keys);
          const seen: string[] = [];
          const deletions = store.scan(partition, { prefix: bytes(`${deleting}/`), batch: 7 });
          for await (const page of store.scan(partition, { prefix: bytes(`${reading}/`), batch: 10 })) {
            seen.push(...page.map((entry) => entry.key.toString()));
            const doomed = await deletions.next();
            if (doomed.done !== true) {
              await Promise.all(doomed.value.map((entry) => store.delete(partition, entry.key)));
            }
          }
          for await (const page of deletions) {
            await Promise.all(page.map((entry) => store.delete(partition, entry.key)));
          }
          expect(seen).toEqual([...new Set(seen)].toSorted());
          if (reading !== deleting) expect(seen).toEqual(numbered(`${reading}/`, 100).map(String));
          const left = keys.map(String).filter((key) => !key.startsWith(`${deleting}/`));
          expect(await readKeys(store, partition)).toEqual(left.toSorted());
        }
      }
    });

    test('partitions whose names begin alike are apart', async () => {
      const { store } = context;
      const base = freshPartition('m').toString();
      await Promise.all(
        ['a', 'aa', 'b', 'c', 'd'].map((key) => store.set(bytes(base), bytes(key), bytes(key))),
      );
      await store.set(bytes(`${base}a`), bytes('a'), bytes('x'));
      await store.set(bytes(`${base}/a`), bytes('z'), bytes('x'));
      await store.set(bytes(base), bytes('/a/z'), bytes('y'));
      expect(await readKeys(store, bytes(base))).toEqual(['/a/z', 'a', 'aa', 'b', 'c', 'd']);
      expect(await readKeys(store, bytes(`${base}a`))).toEqual(['a']);
      expect((await store.get(bytes(`${base}/a`), bytes('z')))?.value).toEqual(bytes('x'));
    });

    test('from, after, and after the last key', async () => {
      const { store } = context;
      const partition = freshPartition();
      await fill(store, partition, ['a', 'b', 'c', 'd'].map(bytes));
      expect(await readKeys(store, partition, { start: bytes('b') })).toEqual(['b', 'c', 'd']);
      expect(await readKeys(store, partition, { after: bytes('b') })).toEqual(['c', 'd']);
      expect(await readKeys(store, partition, { after: bytes('bb') })).toEqual(['c', 'd']);
      expect(await readKeys(store, partition, { start: bytes('c'), after: bytes('a') })).toEqual(['c', 'd']);
      expect(await readKeys(store, partition, { start: bytes('a'), after: bytes('c') })).toEqual(['d']);
      expect(await readKeys(store, partition, { after: bytes('d') })).toEqual([]);
      expect(await readKeys(store, partition, { start: bytes('e') })).toEqual([]);
    });
  });
}
