import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BlockCache } from './block-cache.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { TableReader } from './table-reader.ts';
import { MemorySource } from './table-source.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}.sst`, import.meta.url));

function recordsOf(reader: TableReader): { key: Buffer; value: Buffer; block: number }[] {
  const records: { key: Buffer; value: Buffer; block: number }[] = [];
  const cursor = reader.scan();
  while (cursor.next()) {
    records.push({
      key: Buffer.from(cursor.key.subarray(0, cursor.keyLength)),
      value: Buffer.from(cursor.block.subarray(cursor.valueStart, cursor.valueEnd)),
      block: cursor.blockNumber,
    });
  }
  return records;
}

test('a lookup in a damaged block fails and tells of it; lookups elsewhere go on', () => {
  const bytes = fixture('two-level-index');
  const reader = new TableReader(new MemorySource(bytes));
  const records = recordsOf(reader);
  const damaged = 3;
  const inside = records.find(({ block }) => block === damaged)!;
  let told = 0;
  reader.onCorrupt = (error) => {
    told++;
    return error;
  };
  bytes[reader.index.offset(damaged) + 5]! ^= 1;
  expect(() => reader.get(inside.key)).toThrow(/checksum/);
  expect(() => reader.get(inside.key)).toThrow(CorruptTableError);
  expect(told).toBe(2);
  for (const { key, value, block } of records) if (block !== damaged) expect(reader.get(key)).toEqual(value);
  bytes[reader.index.offset(damaged) + 5]! ^= 1;
  expect(reader.get(inside.key)).toEqual(inside.value);
});

test.each([
  ['without a cache', undefined],
  ['with a cache that keeps nothing', 0],
  ['with a cache that keeps everything', 1e9],
])('lookups in several tables in turns, %s', (_, capacity) => {
  const cache = capacity === undefined ? undefined : new BlockCache(capacity);
  const tables = ['two-level-index', 'long-keys', 'big-values', 'binary-keys'].map((name) => {
    const reader = new TableReader(new MemorySource(fixture(name)), cache);
    return { reader, records: recordsOf(reader) };
  });
  for (let i = 0; i < 300; i++) {
    for (const { reader, records } of tables) {
      const { key, value } = records[(i * 7919) % records.length]!;
      expect(reader.get(key)).toEqual(value);
      expect(reader.get(Buffer.concat([key, Buffer.from('\0absent')]))).toBeUndefined();
    }
  }
});
