import { ClosedTableError, CorruptTableError, MemorySink, TableWriter } from '@svc/sstable';
import { tempDir } from '@svc/testing';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { foundValue } from '../format/found-record.ts';
import { OpenTables, type TableLease } from './open-tables.ts';

const folder = tempDir();
const path = (table: number): string => join(folder, String(table));
const all = [0, 1, 2, 3, 4, 5];
const key = Buffer.from('key-001000');

beforeAll(async () => {
  for (const table of all) {
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: 'ranges' });
    for (let i = 0; i < 2000; i++) {
      const record = Buffer.from(`key-${String(i).padStart(6, '0')}`);
      writer.add(record, 0, record.length, record, 0, record.length);
    }
    await writer.finish();
    writeFileSync(path(table), sink.bytes());
  }
});

const lease = (tables: OpenTables, table: number): TableLease =>
  tables.lease(path(table), String(table), (error) => error);

const openOf = (tables: OpenTables): number[] => all.filter((table) => tables.has(path(table)));

test('keeps no more open than it may', () => {
  const tables = new OpenTables(3, 10_000_000);
  for (const table of all) {
    const held = lease(tables, table);
    expect(held.get(key)).toEqual(key);
    held.release();
  }
  expect(openOf(tables)).toEqual([3, 4, 5]);
  tables.close();
  expect(openOf(tables)).toEqual([]);
});

test('keeps fewer open when their indexes would fill the memory', () => {
  const probe = new OpenTables(1, 10_000_000);
  const { weight } = lease(probe, 0).index;
  probe.close();
  const tables = new OpenTables(100, 4 * weight);
  for (const table of all) lease(tables, table).release();
  expect(openOf(tables)).toEqual([3, 4, 5]);
  expect(tables.cache.reserved).toBe(3 * weight);
  tables.close();
  expect(tables.cache.reserved).toBe(0);
});

test('a leased table is never closed: the pool grows and shrinks again', () => {
  const tables = new OpenTables(1, 10);
  const held = all.map((table) => lease(tables, table));
  expect(openOf(tables)).toEqual(all);
  for (const one of held) {
    const cursor = one.scan();
    let records = 0;
    while (cursor.next()) records++;
    expect(records).toBe(2000);
  }
  for (const one of held) one.release();
  expect(openOf(tables).length).toBeLessThanOrEqual(1);
  tables.close();
});

test('closing the pool waits for whoever still reads', () => {
  const tables = new OpenTables(3, 10_000_000);
  const held = lease(tables, 0);
  const { table } = held;
  tables.close();
  expect(openOf(tables)).toEqual([]);
  expect(table.isRetired).toBe(true);
  expect(held.get(key)).toEqual(key);
  expect(() => table.lease()).toThrow(ClosedTableError);
  held.release();
  expect(() => table.find(key, foundValue)).toThrow(ClosedTableError);
  expect(tables.cache.reserved).toBe(0);
});

test('nothing can be read through a lease that was released', () => {
  const tables = new OpenTables(3, 10_000_000);
  const other = lease(tables, 0);
  const held = lease(tables, 0);
  const scan = held.scan();
  const cursor = held.cursor();
  scan.next();
  held.release();
  held.release();
  expect(() => held.get(key)).toThrow(ClosedTableError);
  expect(() => held.scan()).toThrow(ClosedTableError);
  expect(() => held.cursor()).toThrow(ClosedTableError);
  expect(() => held.index).toThrow(ClosedTableError);
  expect(() => scan.next()).toThrow(ClosedTableError);
  expect(() => cursor.seek(key)).toThrow(ClosedTableError);
  // The second call of `release` gave nothing back.
  expect(other.table.isLeased).toBe(true);
  expect(tables.letGo(path(0))).toBe(false);
  expect(other.get(key)).toEqual(key);
  other.release();
  expect(tables.letGo(path(0))).toBe(true);
});

test('a damaged table leaves the pool; who holds it reads on what is sound', () => {
  const tables = new OpenTables(3, 10_000_000);
  const held = lease(tables, 0);
  const bystander = lease(tables, 0);
  const { index } = held;
  const damaged = index.find(key);
  const file = openSync(path(0), 'r+');
  writeSync(file, Buffer.alloc(8, 0xa5), 0, 8, index.offset(damaged));
  closeSync(file);
  expect(() => held.get(key)).toThrow(CorruptTableError);
  expect(tables.has(path(0))).toBe(false);
  expect(held.table.isRetired).toBe(true);
  held.release();
  expect(bystander.get(Buffer.from('key-000000'))).toEqual(Buffer.from('key-000000'));
  const again = lease(tables, 0);
  expect(again.table).not.toBe(held.table);
  // The old one turning out damaged once more must not push out the new one.
  expect(() => bystander.get(key)).toThrow(CorruptTableError);
  expect(tables.has(path(0))).toBe(true);
  bystander.release();
  again.release();
  tables.close();
  expect(tables.cache.reserved).toBe(0);
});
