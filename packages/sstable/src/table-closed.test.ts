import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BlockCache } from './block-cache.ts';
import { ClosedTableError } from './closed-table-error.ts';
import { TableReader } from './table-reader.ts';
import { MemorySource } from './table-source.ts';

const bytes = readFileSync(new URL('../fixtures/two-level-index.sst', import.meta.url));

function openTable(): TableReader {
  return new TableReader(new MemorySource(bytes), new BlockCache(1e6));
}

function firstKey(reader: TableReader): Buffer {
  const cursor = reader.scan();
  cursor.next();
  return Buffer.from(cursor.key.subarray(0, cursor.keyLength));
}

test('a closed table fails whoever reads it, however they began', () => {
  const reader = openTable();
  const key = firstKey(reader);
  expect(reader.get(key)).toBeDefined();
  const fresh = reader.cursor();
  const begun = reader.scan();
  begun.next();
  reader.close();
  reader.close();
  expect(() => reader.get(key)).toThrow(ClosedTableError);
  expect(() => reader.find(key)).toThrow(ClosedTableError);
  expect(() => reader.index).toThrow(ClosedTableError);
  expect(() => reader.properties()).toThrow(ClosedTableError);
  expect(() => reader.scan().next()).toThrow(ClosedTableError);
  expect(() => fresh.next()).toThrow(ClosedTableError);
  expect(() => fresh.seek(key)).toThrow(ClosedTableError);
  expect(() => {
    while (begun.next());
  }).toThrow(ClosedTableError);
});

test('a released cursor fails instead of showing an end', () => {
  const reader = openTable();
  const key = firstKey(reader);
  const cursor = reader.cursor();
  cursor.next();
  cursor.release();
  expect(() => cursor.next()).toThrow(ClosedTableError);
  expect(() => cursor.seek(key)).toThrow(ClosedTableError);
  expect(() => cursor.seek(Buffer.from('\xff\xff', 'latin1'))).toThrow(ClosedTableError);
});
