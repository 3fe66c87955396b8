import { MemorySink, TableWriter } from '@svc/sstable';
import { tempDir } from '@svc/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { OpenTables } from './open-tables.ts';

const folder = tempDir();
const path = (table: number): string => join(folder, String(table));

beforeAll(async () => {
  for (let table = 0; table < 6; table++) {
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: 'ranges' });
    for (let i = 0; i < 2000; i++) {
      const key = Buffer.from(`key-${String(i).padStart(6, '0')}`);
      writer.add(key, 0, key.length, key, 0, key.length);
    }
    await writer.finish();
    writeFileSync(path(table), sink.bytes());
  }
});

const openOf = (tables: OpenTables): number[] =>
  [0, 1, 2, 3, 4, 5].filter((table) => tables.get(path(table)) !== undefined);

test('keeps no more open than it may', () => {
  const tables = new OpenTables(3, 10_000_000);
  for (let table = 0; table < 6; table++) expect(tables.open(path(table), '').closed).toBe(false);
  expect(openOf(tables)).toEqual([3, 4, 5]);
  tables.close();
  expect(openOf(tables)).toEqual([]);
});

test('keeps fewer open when their indexes would fill the memory', () => {
  const probe = new OpenTables(1, 10_000_000);
  const { weight } = probe.open(path(0), '').reader.index;
  probe.close();
  const tables = new OpenTables(100, 4 * weight);
  for (let table = 0; table < 6; table++) expect(tables.open(path(table), '').closed).toBe(false);
  expect(openOf(tables)).toEqual([3, 4, 5]);
  expect(tables.cache.reserved).toBe(3 * weight);
  const last = tables.open(path(5), '').reader;
  tables.close();
  expect(tables.cache.reserved).toBe(0);
  expect(last.index.weight).toBe(0);
});

test('the one just opened stays, even when all others are being read', () => {
  const tables = new OpenTables(1, 10);
  for (let table = 0; table < 6; table++) {
    const opened = tables.open(path(table), '');
    expect(opened.closed).toBe(false);
    opened.pins++;
  }
  expect(openOf(tables)).toEqual([0, 1, 2, 3, 4, 5]);
  tables.close();
});
