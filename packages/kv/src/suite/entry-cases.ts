import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createMemStore } from '../drivers/mem.ts';
import { KvError } from '../errors.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition, readAll } from './partitions.ts';

const empty = Buffer.alloc(0);
const none = null as unknown as Buffer;

export function entryCases(context: SuiteContext): void {
  describe('entries', () => {
    test('two handles opened at once both work and see each other', async () => {
      const partition = freshPartition();
      const [first, second] = await Promise.all([context.open(), context.open()]);
      await first.set(partition, bytes('a'), bytes('1'));
      await second.set(partition, bytes('b'), bytes('2'));
      expect((await second.get(partition, bytes('a')))?.value).toEqual(bytes('1'));
      expect((await first.get(partition, bytes('b')))?.value).toEqual(bytes('2'));
      await first.close();
      await first.close();
      expect((await second.get(partition, bytes('a')))?.value).toEqual(bytes('1'));
      await expect(first.get(partition, bytes('a'))).rejects.toMatchObject({ kind: 'closed' });
      await expect(first.set(partition, bytes('a'), bytes('1'))).rejects.toMatchObject({ kind: 'closed' });
      await second.close();
    });

    test('what is set is returned, and overwritten by the next set', async () => {
      const partition = freshPartition();
      await context.store.set(partition, bytes('k'), bytes('one'));
      expect((await context.store.get(partition, bytes('k')))?.value).toEqual(bytes('one'));
      await context.store.set(partition, bytes('k'), bytes('two'));
      expect((await context.store.get(partition, bytes('k')))?.value).toEqual(bytes('two'));
    });

    test('what is read after a write in one round trip is what stands there once the write is durable', async () => {
      const { store } = context;
      expect(store.setThenGet === undefined).toBe(store.type !== 'postgres');
      if (store.setThenGet === undefined) return;
      const [written, read] = [freshPartition(), freshPartition()];
      const put = (key: string) => ({ partition: written, key: bytes(key), value: bytes(`value of ${key}`) });
      const none = await store.setThenGet(put('a'), read, bytes('k'));
      expect(none).toBeUndefined();
      expect((await store.get(written, bytes('a')))?.value).toEqual(bytes('value of a'));
      // The very entry that is written.
      const own = await store.setThenGet(put('own'), written, bytes('own'));
      expect(own?.value).toEqual(bytes('value of own'));
      await store.set(read, bytes('k'), bytes('one'));
      const seen = await store.setThenGet(put('b'), read, bytes('k'));
      expect(seen?.value).toEqual(bytes('one'));
      // It proves that nothing changed, as that of a plain read does.
      const replace = (value: string): Promise<boolean> =>
        store.setIf(read, bytes('k'), bytes(value), seen?.predicate ?? 'absent');
      seen?.value.fill(0);
      expect([await replace('two'), await replace('three')]).toEqual([true, false]);
      await expect(store.setThenGet(put(''), read, bytes('k'))).rejects.toThrow('missing key');
      await expect(store.setThenGet(put('c'), read, empty)).rejects.toThrow('missing key');
      expect(await store.get(written, bytes('c'))).toBeUndefined();
    });

    test('the predicate of a value proves it without a read', async () => {
      const { store } = context;
      expect(store.predicateOf === undefined).toBe(['local', 'dynamodb', 'cosmosdb'].includes(store.type));
      if (store.predicateOf === undefined) return;
      const partition = freshPartition();
      const value = bytes('one');
      const predicate = store.predicateOf(value);
      value.fill(0);
      const replace = (next: string): Promise<boolean> =>
        store.setIf(partition, bytes('k'), bytes(next), predicate);
      expect(await replace('too early')).toBe(false);
      await store.set(partition, bytes('k'), bytes('one'));
      expect([await replace('two'), await replace('three')]).toEqual([true, false]);
      expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('two'));
    });

    test('many writes at once are each answered what they asked for', async () => {
      const { store } = context;
      if (store.setThenGet === undefined) return;
      const setThenGet = store.setThenGet.bind(store);
      const [written, ...read] = Array.from({ length: 4 }, () => freshPartition());
      for (const [index, partition] of read.entries())
        await store.set(partition, bytes('k'), bytes(`${index}`));
      const found = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          setThenGet(
            { partition: written ?? empty, key: bytes(`key ${index}`), value: bytes(`value ${index}`) },
            read[index % 3] ?? empty,
            bytes(index % 5 === 0 ? 'missing' : 'k'),
          ),
        ),
      );
      expect(found.map((each) => each?.value.toString())).toEqual(
        Array.from({ length: 60 }, (_, index) => (index % 5 === 0 ? undefined : `${index % 3}`)),
      );
      const stored = await readAll(store, written ?? empty);
      expect(stored.length).toBe(60);
    });

    test("a value read at once is the one acknowledged last, of any handle, and the caller's to keep", async () => {
      const [store, other] = [context.store, await context.open()];
      const partition = freshPartition();
      const read = (key: string): Buffer | undefined => store.valueAtOnce?.(partition, bytes(key));
      expect(store.valueAtOnce === undefined).toBe(!['local', 'mem'].includes(store.type));
      if (store.valueAtOnce === undefined) {
        await other.close();
        return;
      }
      expect(read('k')).toBeUndefined();
      // In one turn of the event loop, too: the store may keep a snapshot for that long.
      for (const value of ['one', 'two', 'three']) {
        await other.set(partition, bytes('k'), bytes(value));
        expect(read('k')).toEqual(bytes(value));
      }
      const kept = read('k');
      kept?.fill(0x78);
      expect(read('k')).toEqual(bytes('three'));
      await other.delete(partition, bytes('k'));
      expect(read('k')).toBeUndefined();
      expect(() => store.valueAtOnce?.(partition, empty)).toThrow('missing key');
      expect(() => store.valueAtOnce?.(empty, bytes('k'))).toThrow('missing partition key');
      await other.close();
      expect(() => other.valueAtOnce?.(partition, bytes('k'))).toThrow('closed');
    });

    test('the first key read at once is the one a scan would begin with, and stays in its partition', async () => {
      const [store, other] = [context.store, await context.open()];
      const partition = freshPartition();
      expect(store.firstKeyAtOnce === undefined).toBe(store.valueAtOnce === undefined);
      const read = (start: string): string | undefined =>
        store.firstKeyAtOnce?.(partition, bytes(start))?.toString();
      if (store.firstKeyAtOnce !== undefined) {
        expect(read('a')).toBeUndefined();
        const next = Buffer.concat([partition, bytes('x')]);
        await other.set(next, bytes('z'), bytes('1'));
        expect(read('a')).toBeUndefined();
        for (const key of ['b', 'bb', 'd']) await other.set(partition, bytes(key), bytes(key));
        expect(['a', 'b', 'b\0', 'bb', 'c', 'd', 'e'].map(read)).toEqual([
          'b',
          'b',
          'bb',
          'bb',
          'd',
          'd',
          undefined,
        ]);
        // In one turn of the event loop, too: the store may keep a snapshot for that long.
        await other.delete(partition, bytes('b'));
        expect(read('a')).toBe('bb');
        expect(() => store.firstKeyAtOnce?.(partition, empty)).toThrow('missing key');
      }
      await other.close();
    });

    test('buffers of the caller may change as soon as the call returned its promise', async () => {
      const { store } = context;
      const partition = freshPartition();
      const partitionArgument = Buffer.from(partition);
      const [key, value, replacement] = [bytes('key'), bytes('value'), bytes('replacement')];
      const writing = store.set(partitionArgument, key, value);
      key.fill(0x78);
      value.fill(0x78);
      partitionArgument.fill(0x78);
      await writing;
      const stored = await store.get(partition, bytes('key'));
      expect(stored?.value).toEqual(bytes('value'));
      stored?.value.fill(0x79);
      expect((await store.get(partition, bytes('key')))?.value).toEqual(bytes('value'));
      const condition = stored?.predicate ?? 'absent';
      const replacing = store.setIf(partition, bytes('key'), replacement, condition);
      replacement.fill(0x7a);
      expect(await replacing).toBe(true);
      const [entry] = await readAll(store, partition);
      expect(entry).toEqual({ key: bytes('key'), value: bytes('replacement') });
      entry?.value.fill(0x7b);
      expect((await store.get(partition, bytes('key')))?.value).toEqual(bytes('replacement'));
    });

    test('missing partitions, keys and values are refused by name', async () => {
      const { store } = context;
      const partition = freshPartition();
      const key = bytes('k');
      for (const missing of [empty, none]) {
        for (const call of [
          () => store.get(missing, key),
          () => store.set(missing, key, key),
          () => store.setIf(missing, key, key, 'absent'),
          () => store.delete(missing, key),
          () => store.scan(missing).next(),
        ]) {
          await expect(call()).rejects.toMatchObject({ kind: 'missing_partition_key' });
        }
        for (const call of [
          () => store.get(partition, missing),
          () => store.set(partition, missing, key),
          () => store.setIf(partition, missing, key, 'absent'),
          () => store.delete(partition, missing),
        ]) {
          await expect(call()).rejects.toMatchObject({ kind: 'missing_key' });
        }
      }
      await expect(store.set(partition, key, none)).rejects.toBeInstanceOf(KvError);
      await expect(store.set(partition, key, none)).rejects.toMatchObject({ kind: 'missing_value' });
      await expect(store.setIf(partition, key, none, 'absent')).rejects.toMatchObject({
        kind: 'missing_value',
      });
      expect(await readAll(store, partition)).toEqual([]);
    });

    test('an empty value is stored and returned as empty', async () => {
      const partition = freshPartition();
      await context.store.set(partition, bytes('k'), empty);
      expect((await context.store.get(partition, bytes('k')))?.value).toEqual(empty);
      expect(await readAll(context.store, partition)).toEqual([{ key: bytes('k'), value: empty }]);
    });

    test('values of a mebibyte keep every byte', async () => {
      const partition = freshPartition();
      const large = randomBytes(1024 * 1024 + 3);
      await context.store.set(partition, bytes('large'), large);
      await context.store.set(partition, bytes('small'), bytes('s'));
      expect((await context.store.get(partition, bytes('large')))?.value.equals(large)).toBe(true);
      const entries = await readAll(context.store, partition);
      expect(entries.map((entry) => entry.value.length)).toEqual([large.length, 1]);
      expect(entries[0]?.value.equals(large)).toBe(true);
    });

    test('unknown keys and unknown partitions are not found', async () => {
      const partition = freshPartition();
      expect(await context.store.get(partition, bytes('k'))).toBeUndefined();
      await context.store.set(partition, bytes('k'), bytes('v'));
      expect(await context.store.get(partition, bytes('kk'))).toBeUndefined();
    });

    test('setIf absent writes once', async () => {
      const partition = freshPartition();
      expect(await context.store.setIf(partition, bytes('k'), bytes('1'), 'absent')).toBe(true);
      expect(await context.store.setIf(partition, bytes('k'), bytes('2'), 'absent')).toBe(false);
      expect((await context.store.get(partition, bytes('k')))?.value).toEqual(bytes('1'));
    });

    test('setIf with a predicate writes while the value is unchanged, once', async () => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('k'), empty);
      const read = await store.get(partition, bytes('k'));
      const predicate = read?.predicate ?? 'absent';
      expect(await store.setIf(partition, bytes('k'), bytes('2'), predicate)).toBe(true);
      expect(await store.setIf(partition, bytes('k'), bytes('3'), predicate)).toBe(false);
      expect(await store.setIf(partition, bytes('other'), bytes('3'), predicate)).toBe(false);
      expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('2'));
      expect(await store.get(partition, bytes('other'))).toBeUndefined();
    });

    test('a predicate of another value fails', async () => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('k'), bytes('1'));
      const foreign = createMemStore();
      await foreign.set(partition, bytes('k'), bytes('foreign'));
      const predicate = (await foreign.get(partition, bytes('k')))?.predicate ?? 'absent';
      expect(await store.setIf(partition, bytes('k'), bytes('2'), predicate)).toBe(false);
      expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('1'));
    });

    test('setIf present updates, and creates nothing', async () => {
      const { store } = context;
      const partition = freshPartition();
      expect(await store.setIf(partition, bytes('k'), bytes('1'), 'present')).toBe(false);
      expect(await store.get(partition, bytes('k'))).toBeUndefined();
      await store.set(partition, bytes('k'), bytes('1'));
      expect(await store.setIf(partition, bytes('k'), bytes('2'), 'present')).toBe(true);
      expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('2'));
    });

    test('delete removes, and is content with nothing to remove', async () => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('k'), bytes('1'));
      await store.delete(partition, bytes('k'));
      expect(await store.get(partition, bytes('k'))).toBeUndefined();
      await store.delete(partition, bytes('k'));
      await store.delete(freshPartition(), bytes('k'));
    });

    test('deleteIf removes only what the predicate came from', async () => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('k'), bytes('1'));
      const first = await store.get(partition, bytes('k'));
      await store.set(partition, bytes('k'), bytes('2'));
      const second = await store.get(partition, bytes('k'));
      if (first === undefined || second === undefined) throw new Error('the entry is missing');
      expect(await store.deleteIf(partition, bytes('k'), first.predicate)).toBe(false);
      expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('2'));
      expect(await store.deleteIf(partition, bytes('k'), second.predicate)).toBe(true);
      expect(await store.get(partition, bytes('k'))).toBeUndefined();
      expect(await store.deleteIf(partition, bytes('k'), second.predicate)).toBe(false);
    });

    test('partitions lists each that holds something, in byte order', async () => {
      const { store } = context;
      const base = freshPartition('list').toString();
      const names = [`${base}/b`, `${base}/a/longer`, `${base}/a`, `${base}/emptied`];
      for (const name of names) await store.set(bytes(name), bytes('k'), bytes('v'));
      await store.delete(bytes(`${base}/emptied`), bytes('k'));
      const found: string[] = [];
      for await (const partition of store.partitions()) found.push(partition.toString());
      expect(found.filter((name) => name.startsWith(base))).toEqual([
        `${base}/a`,
        `${base}/a/longer`,
        `${base}/b`,
      ]);
    });
  });
}
