import * as fc from 'fast-check';
import { expect, test } from 'vitest';
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

test('a cache smaller than the table still answers every lookup', async () => {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  const keys = Array.from({ length: 20_000 }, (_, i) => Buffer.from(`key-${String(i).padStart(8, '0')}`));
  for (const each of keys) writer.add(each, 0, each.length, each, 0, each.length);
  await writer.finish();
  const cache = new BlockCache(300_000);
  const reader = new TableReader(new MemorySource(sink.bytes()), cache);
  for (let i = 0; i < 20_000; i++) {
    const wanted = keys[(i * 7919) % keys.length]!;
    expect(reader.get(wanted)?.equals(wanted)).toBe(true);
  }
  expect(cache.size).toBeLessThanOrEqual(600_000);
  reader.close();
  expect(cache.size).toBeLessThanOrEqual(600_000);
});
