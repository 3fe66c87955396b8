import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition, numbered, readAll, readKeys } from './partitions.ts';

export function bulkCases(context: SuiteContext): void {
  describe('bulk calls', () => {
    test('many entries are set and deleted, and doing it again or from half-way changes nothing', async () => {
      const { store, many } = context;
      const partition = freshPartition();
      const keys = Array.from({ length: many }, (_, index) => bytes(String(index).padStart(5, '0')));
      const records = keys.map((key) => ({ key, value: Buffer.concat([bytes('v'), key]) }));
      await store.setMany(partition, records.slice(0, many / 2));
      await store.setMany(partition, records);
      await store.setMany(partition, records);
      expect(await readAll(store, partition)).toEqual(records);
      await store.deleteMany(partition, keys.slice(0, many / 3));
      await store.deleteMany(partition, keys.slice(0, many - 1));
      await store.deleteMany(partition, keys.slice(0, many - 1));
      expect(await readKeys(store, partition)).toEqual([String(many - 1).padStart(5, '0')]);
      await store.deleteMany(partition, []);
      await store.setMany(partition, []);
    });

    test('of records with one key the last is kept, and buffers may change afterwards', async () => {
      const { store } = context;
      const partition = freshPartition();
      const owner = Buffer.from(partition);
      const records = [
        { key: bytes('a'), value: bytes('1') },
        { key: bytes('b'), value: bytes('2') },
        { key: bytes('a'), value: bytes('3') },
      ];
      const writing = store.setMany(owner, records);
      for (const buffer of [owner, ...records.flatMap(({ key, value }) => [key, value])]) buffer.fill('x');
      await writing;
      expect(await readAll(store, partition)).toEqual([
        { key: bytes('a'), value: bytes('3') },
        { key: bytes('b'), value: bytes('2') },
      ]);
      const gone = bytes('a');
      const deleting = store.deleteMany(partition, [gone]);
      gone.fill('b');
      await deleting;
      expect(await readKeys(store, partition)).toEqual(['b']);
    });

    test('getMany answers in the order asked, with holes, and its predicates hold', async () => {
      const { store } = context;
      const partition = freshPartition();
      const keys = numbered('k', 100);
      await store.setMany(
        partition,
        keys.slice(0, 50).map((key) => ({ key, value: key })),
      );
      const asked = keys.toReversed();
      const found = await store.getMany(partition, asked);
      expect(found.map((each) => each?.value)).toEqual(
        asked.map((key) => (keys.indexOf(key) < 50 ? key : undefined)),
      );
      const last = found.at(-1);
      expect(
        await store.setIf(partition, keys[0] ?? bytes('k'), bytes(''), last?.predicate ?? 'absent'),
      ).toBe(true);
      expect(
        (await store.getMany(partition, [bytes('k000'), bytes('k000')])).map((each) => each?.value),
      ).toEqual([bytes(''), bytes('')]);
      expect(await store.getMany(partition, [])).toEqual([]);
      await expect(store.getMany(partition, numbered('k', 101))).rejects.toMatchObject({
        kind: 'invalid_change',
      });
    });

    test('getMany sees every write acknowledged before it', async () => {
      const other = await context.open();
      const partition = freshPartition();
      for (let round = 0; round < 50; round++) {
        await other.set(partition, bytes('k'), bytes(`${round}`));
        const [found] = await context.store.getMany(partition, [bytes('k')]);
        expect(found?.value).toEqual(bytes(`${round}`));
      }
      await other.close();
    });

    test('missing partitions and keys are refused, and nothing is written', async () => {
      const { store } = context;
      const [partition, none] = [freshPartition(), Buffer.alloc(0)];
      const good = { key: bytes('a'), value: bytes('1') };
      for (const call of [
        () => store.setMany(partition, [good, { key: none, value: none }]),
        () => store.deleteMany(partition, [none]),
        () => store.getMany(partition, [none]),
      ]) {
        await expect(call()).rejects.toMatchObject({ kind: 'missing_key' });
      }
      await expect(store.setMany(none, [good])).rejects.toMatchObject({ kind: 'missing_partition_key' });
      expect(await readKeys(store, partition)).toEqual([]);
    });
  });

  describe('the longest key', () => {
    test('passes every operation and keeps its place; one byte more is refused and nothing is written', async () => {
      const { store } = context;
      const partition = freshPartition();
      // Bytes that no store can shorten by compressing them.
      const longest = noise(store.maxKeyBytes(partition));
      const before = Buffer.concat([longest.subarray(0, -1), Buffer.of(0)]);
      longest[longest.length - 1] = 1;
      await store.setMany(partition, [
        { key: Buffer.of(0xff), value: bytes('last') },
        { key: before, value: bytes('first') },
      ]);
      await store.set(partition, longest, bytes('1'));
      expect(await store.setIf(partition, longest, bytes('2'), 'present')).toBe(true);
      const [read] = await store.getMany(partition, [longest]);
      const guard = { key: longest, condition: read?.predicate ?? 'absent' } as const;
      expect(await store.change(partition, guard, [{ type: 'put', key: longest, value: bytes('3') }])).toBe(
        true,
      );
      expect((await readAll(store, partition)).map(({ value }) => value.toString())).toEqual([
        'first',
        '3',
        'last',
      ]);
      await store.deleteMany(partition, [longest]);
      const tooLong = Buffer.concat([longest, Buffer.of(1)]);
      const any = { key: bytes('g'), condition: 'any' } as const;
      for (const call of [
        () => store.set(partition, tooLong, bytes('1')),
        () => store.setIf(partition, tooLong, bytes('1'), 'absent'),
        () => store.setMany(partition, [{ key: tooLong, value: bytes('1') }]),
        () => store.change(partition, any, [{ type: 'put', key: tooLong, value: bytes('1') }]),
      ]) {
        await expect(call()).rejects.toMatchObject({ kind: 'key_too_long' });
      }
      expect((await readAll(store, partition)).map(({ value }) => value.toString())).toEqual([
        'first',
        'last',
      ]);
    });
  });
}

function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[index] = (state >>> 16) % 0xff;
  }
  return bytes;
}
