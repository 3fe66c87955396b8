import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { BlockCache } from './block-cache.ts';
import { TableReader } from './table-reader.ts';
import { MemorySink } from './table-sink.ts';
import { MemorySource } from './table-source.ts';
import { TableWriter } from './table-writer.ts';

// Bytes of the stored trailer (01, 00) are in the alphabet: keys may share into it.
const key = fc
  .array(fc.constantFrom(0, 1, 0x61, 0x62, 0xff), { maxLength: 7 })
  .map((bytes) => Buffer.from(bytes).toString('latin1'));

test('seeking finds the first record not below the target, in any order of targets', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 120 }),
      fc.array(key, { minLength: 1, maxLength: 30 }),
      fc.constantFrom(1, 700),
      async (keys, targets, valueLength) => {
        const records = keys.map((text) => Buffer.from(text, 'latin1')).sort((a, b) => Buffer.compare(a, b));
        const value = Buffer.alloc(valueLength, 'v');
        const sink = new MemorySink();
        const writer = new TableWriter(sink, { type: 'ranges' });
        for (const each of records) writer.add(each, 0, each.length, value, 0, value.length);
        await writer.finish();
        const reader = new TableReader(new MemorySource(sink.bytes()), new BlockCache(1_000_000));
        for (const cursor of [reader.scan(), reader.cursor()]) {
          for (const text of targets) {
            const target = Buffer.from(text, 'latin1');
            const from = records.findIndex((each) => Buffer.compare(each, target) >= 0);
            const expected = from < 0 ? [] : records.slice(from, from + 3);
            cursor.seek(target);
            for (const each of expected) {
              expect(cursor.next()).toBe(true);
              expect(cursor.key.subarray(0, cursor.keyLength).equals(each)).toBe(true);
            }
            if (expected.length < 3) expect(cursor.next()).toBe(false);
            expect(reader.get(target) !== undefined).toBe(from >= 0 && records[from]!.equals(target));
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

async function tableOf(count: number): Promise<{ keys: Buffer[]; bytes: Buffer }> {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  const keys = Array.from({ length: count }, (_, i) => Buffer.from(`key-${String(i).padStart(8, '0')}`));
  for (const each of keys) writer.add(each, 0, each.length, each, 0, each.length);
  await writer.finish();
  return { keys, bytes: sink.bytes() };
}

test('a cache smaller than the table still answers every lookup, in memory it uses again', async () => {
  const { keys, bytes } = await tableOf(40_000);
  const cache = new BlockCache(300_000);
  const reader = new TableReader(new MemorySource(bytes), cache);
  const lookUpAll = (): void => {
    for (let i = 0; i < keys.length; i++) {
      const wanted = keys[(i * 7919) % keys.length]!;
      if (reader.get(wanted)?.equals(wanted) !== true) throw new Error(`${wanted.toString()} is missing`);
    }
  };
  lookUpAll();
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
  lookUpAll();
  expect(allocated).not.toHaveBeenCalled();
  allocated.mockRestore();
  expect(cache.size).toBeLessThanOrEqual(600_000);
  reader.close();
  expect(cache.size).toBeLessThanOrEqual(600_000);
});

test.each(['scan', 'cursor'] as const)(
  'what a %s and a lookup have read stays as it was while the cache turns over',
  async (kind) => {
    const { keys, bytes } = await tableOf(40_000);
    const reader = new TableReader(new MemorySource(bytes), new BlockCache(300_000));
    const some = keys.filter((_, i) => i % 400 === 0);
    const kept = some.map((key) => reader.get(key));
    const cursor = reader[kind]();
    for (const [i, key] of keys.entries()) {
      expect(cursor.next()).toBe(true);
      // Enough other blocks to push everything out before the cursor goes on.
      if (i % 997 === 500) for (let j = 0; j < keys.length; j += 61) reader.get(keys[j] as Buffer);
      const value = cursor.block.subarray(cursor.valueStart, cursor.valueEnd);
      if (!cursor.key.subarray(0, cursor.keyLength).equals(key) || !value.equals(key))
        throw new Error(`${key.toString()} was read as ${value.toString()}`);
    }
    expect(kept).toEqual(some);
  },
);

test('released cursors are over, and their memory serves the next ones', async () => {
  const { keys, bytes } = await tableOf(40_000);
  const reader = new TableReader(new MemorySource(bytes), new BlockCache(300_000));
  const readSome = (from: number): void => {
    const cursor = reader.cursor();
    cursor.seek(keys[from] as Buffer);
    for (let i = from; i < from + 400; i++) {
      cursor.next();
      if (!cursor.key.subarray(0, cursor.keyLength).equals(keys[i] as Buffer)) throw new Error(`${i}`);
    }
    cursor.seek(keys[from] as Buffer);
    cursor.release();
    cursor.release();
    expect(() => cursor.next()).toThrow('released');
    expect(() => cursor.seek(keys[from] as Buffer)).toThrow('released');
  };
  for (const start of [0, 250]) for (let from = start; from < 39_000; from += 1000) readSome(from);
  const allocated = vi.spyOn(Buffer, 'allocUnsafeSlow');
  for (let from = 500; from < 39_000; from += 1000) readSome(from);
  expect(allocated).not.toHaveBeenCalled();
  allocated.mockRestore();
});

test('memory in which a large value was decoded does not serve others', async () => {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  const [key, value] = [Buffer.from('key'), Buffer.alloc(300_000, 'v')];
  writer.add(key, 0, key.length, value, 0, value.length);
  await writer.finish();
  const reader = new TableReader(new MemorySource(sink.bytes()));
  const seen = new Set<ArrayBufferLike>();
  for (let time = 0; time < 100; time++) {
    const cursor = reader.cursor();
    expect(cursor.next()).toBe(true);
    expect(seen.has(cursor.block.buffer)).toBe(false);
    seen.add(cursor.block.buffer);
    cursor.release();
  }
});

test('a lookup finds its block again after another table pushed it out', async () => {
  const { keys, bytes } = await tableOf(40_000);
  const cache = new BlockCache(300_000);
  const [one, other] = [new MemorySource(bytes), new MemorySource(bytes)].map(
    (source) => new TableReader(source, cache),
  ) as [TableReader, TableReader];
  const [first, second] = keys as [Buffer, Buffer];
  // When it comes back to a block it stands in the cache's memory.
  for (const key of [first, keys[30_000] as Buffer, first]) expect(one.get(key)).toEqual(key);
  for (const key of keys) other.get(key);
  expect(one.get(second)).toEqual(second);
});

test('a lookup reads one block and not more', async () => {
  const { keys, bytes } = await tableOf(40_000);
  const source = new MemorySource(bytes);
  const read = vi.spyOn(source, 'read');
  const reader = new TableReader(source, new BlockCache(300_000));
  read.mockClear();
  for (let i = 0; i < keys.length; i += 500) expect(reader.get(keys[i] as Buffer)).toEqual(keys[i]);
  for (const [, , length] of read.mock.calls) expect(length).toBeLessThan(5000);
});
