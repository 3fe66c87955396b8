import { describe, expect, test } from 'vitest';
import { KvIterator } from '../kv-iterator.ts';
import type { KvStore } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, fill, freshPartition, numbered } from './partitions.ts';

export function iteratorCases(context: SuiteContext): void {
  describe('iterators', () => {
    test('seeks list again from there, also when the iterator is exhausted', async () => {
      const partition = freshPartition('m');
      await fill(context.store, partition, ['a', 'aa', 'b', 'c', 'd'].map(bytes));
      const iterator = new KvIterator(context.store, partition);
      expect(await rest(iterator)).toEqual(['a', 'aa', 'b', 'c', 'd']);
      for (const [key, expected] of [
        ['b', ['b', 'c', 'd']],
        ['aaa', ['b', 'c', 'd']],
        ['b', ['b', 'c', 'd']],
        ['x', []],
        ['a', ['a', 'aa', 'b', 'c', 'd']],
      ] as const) {
        await iterator.seekGE(bytes(key));
        expect(await rest(iterator)).toEqual(expected);
      }
      await iterator.close();
    });

    test('three ascending seeks cost one scan', async () => {
      const partition = freshPartition();
      await fill(context.store, partition, numbered('key', 50));
      let scans = 0;
      const counting: Pick<KvStore, 'scan'> = {
        scan: (scanned, options) => {
          scans++;
          return context.store.scan(scanned, options);
        },
      };
      const iterator = new KvIterator(counting as KvStore, partition);
      for (const key of ['key000', 'key020', 'key0305']) {
        if (key !== 'key000') await iterator.seekGE(bytes(key));
        expect(await iterator.next()).toBe(true);
      }
      expect(iterator.entry.key).toEqual(bytes('key031'));
      expect(scans).toBe(1);
      await iterator.close();
    });

    test('seeks across the borders of pages list exactly the rest', async () => {
      const partition = freshPartition();
      const keys = numbered('key', 100);
      await fill(context.store, partition, keys);
      const iterator = new KvIterator(context.store, partition, { batch: 10 });
      for (const from of [0, 9, 10, 11, 29, 30, 75, 99, 5, 50]) {
        await iterator.seekGE(keys[from] ?? bytes(''));
        expect(await iterator.next()).toBe(true);
        expect(iterator.entry.key).toEqual(keys[from]);
        expect(await rest(iterator)).toEqual(keys.slice(from + 1).map(String));
      }
      await iterator.close();
    });

    test('a seek stays inside the prefix', async () => {
      const partition = freshPartition();
      await fill(context.store, partition, ['a', 'p/1', 'p/2', 'q'].map(bytes));
      const iterator = new KvIterator(context.store, partition, { prefix: bytes('p/'), after: bytes('p/1') });
      expect(await rest(iterator)).toEqual(['p/2']);
      await iterator.seekGE(bytes('a'));
      expect(await rest(iterator)).toEqual(['p/1', 'p/2']);
      await iterator.seekGE(bytes('q'));
      expect(await rest(iterator)).toEqual([]);
      await iterator.close();
    });

    test('a closed iterator is at its end and says so', async () => {
      const partition = freshPartition();
      await fill(context.store, partition, ['a', 'b'].map(bytes));
      const iterator = new KvIterator(context.store, partition);
      expect(await iterator.next()).toBe(true);
      expect(iterator.error).toBeUndefined();
      await iterator.close();
      await iterator.close();
      expect(await iterator.next()).toBe(false);
      expect(iterator.error).toMatchObject({ kind: 'closed', message: 'closed entries' });
      await iterator.seekGE(bytes('a'));
      expect(await iterator.next()).toBe(false);
    });

    test('an empty partition name is refused', () => {
      expect(() => new KvIterator(context.store, bytes(''))).toThrow('missing partition key');
    });
  });
}

async function rest(iterator: KvIterator): Promise<string[]> {
  const keys: string[] = [];
  while (await iterator.next()) keys.push(iterator.entry.key.toString());
  return keys;
}
