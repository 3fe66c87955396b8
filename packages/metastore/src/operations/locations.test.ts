import { describe, expect, it } from 'vitest';
import type { Table } from '../model.ts';
import { amongSymlinks, inRepository, onBranch } from './locations.ts';
import { rewritePartition, rewriteTable } from './rewrite-table.ts';

describe('locations', () => {
  it.each([
    ['s3a://r1/main/p/t', undefined, 's3a://r1/b/p/t'],
    ['s3://r1/main', undefined, 's3://r1/b'],
    ['s3://r1/main/', undefined, 's3://r1/b/'],
    ['s3://r1/main/a//b', undefined, 's3://r1/b/a//b'],
    ['dbfs:/t/x', 's3://r1/main', 's3://r1/b/t/x'],
    ['dbfs:/t/x', 's3://r1/main/', 's3://r1/b/t/x'],
  ])('%s is on branch b', (location, dbfsRoot, moved) => {
    expect(onBranch('b', dbfsRoot)(location)).toBe(moved);
  });

  it.each([
    ['s3://bkt/p/t', 's3://r1/main/p/t'],
    ['s3://bkt//p/t', 's3://r1/main/p/t'],
    ['s3://bkt', 's3://r1/main/'],
  ])('%s is imported', (location, moved) => {
    expect(inRepository('r1', 'main')(location)).toBe(moved);
  });

  it('is among the symlink files of its branch only', () => {
    const relocate = amongSymlinks('s3://store/ns/symlinks/', 'r1', 'main');
    expect(relocate('s3a://r1/main/p/t')).toBe('s3://store/ns/symlinks/r1/main/p/t');
    expect(() => relocate('s3a://r1/dev/p/t')).toThrow(/not on branch main of repository r1/);
    expect(() => relocate('s3a://r2/main/p/t')).toThrow(/not on branch main of repository r1/);
  });

  it.each([
    ['/warehouse/t', /expected scheme:\/\/name\/path/],
    ['file:/warehouse/t', /expected scheme:\/\/name\/path/],
    ['file:///warehouse/t', /expected scheme:\/\/name\/path/],
    ['hdfs://name-node:8020/warehouse/t', /expected scheme:\/\/name\/path/],
    ['dbfs:/t', /use --dbfs-root/],
    ['s3://r1/', /names no ref/],
    ['s3://r1', /names no ref/],
  ])('%s cannot be moved', (location, message) => {
    expect(() => onBranch('b')(location)).toThrow(message);
  });
});

describe('a table of Spark', () => {
  const serde = { name: 'old', parameters: { path: 's3a://r1/main/t' } };
  const storage = {
    columns: [],
    location: 's3a://r1/main/t-__PLACEHOLDER__',
    compressed: false,
    buckets: 0,
    serde,
    bucketColumns: [],
    sortColumns: [],
    parameters: {},
  };
  const table: Table = {
    database: 'd',
    name: 't',
    lastAccessTime: 0,
    retention: 0,
    storage,
    partitionKeys: [],
    parameters: { 'spark.sql.sources.provider': 'parquet' },
  };
  const rewrite = {
    database: 'd2',
    table: 't2',
    serde: 's2',
    relocate: onBranch('b'),
    fixSparkPlaceholder: false,
  };

  it('keeps the placeholder and moves the path of its serde', () => {
    const copy = rewriteTable(table, rewrite);
    expect(copy).toMatchObject({ database: 'd2', name: 't2' });
    expect(copy.storage?.location).toBe('s3a://r1/main/t-__PLACEHOLDER__');
    expect(copy.storage?.serde).toMatchObject({ name: 's2', parameters: { path: 's3a://r1/b/t' } });
  });

  it('gets its real location when asked for', () => {
    expect(rewriteTable(table, { ...rewrite, fixSparkPlaceholder: true }).storage?.location).toBe(
      's3a://r1/b/t',
    );
  });

  it('moves both where the location is real: Spark reads the path', () => {
    const real = { ...table, storage: { ...storage, location: 's3a://r1/main/t' } };
    const copy = rewriteTable(real, rewrite);
    expect(copy.storage?.location).toBe('s3a://r1/b/t');
    expect(copy.storage?.serde?.parameters['path']).toBe('s3a://r1/b/t');
  });

  it('never points a partition at the whole table', () => {
    const partition = {
      database: 'd',
      table: 't',
      values: ['1'],
      lastAccessTime: 0,
      storage,
      parameters: {},
    };
    const copy = rewritePartition(partition, table, { ...rewrite, fixSparkPlaceholder: true });
    expect(copy.storage?.location).toBe('s3a://r1/main/t-__PLACEHOLDER__');
  });

  it('says whose location cannot be moved', () => {
    const local = { ...table, storage: { ...storage, location: 'file:/t' } };
    expect(() => rewriteTable(local, rewrite)).toThrow('table d.t: location "file:/t" cannot be moved');
  });

  it('leaves the path of another engine alone', () => {
    const copy = rewriteTable({ ...table, parameters: {} }, rewrite);
    expect(copy.storage?.serde?.parameters['path']).toBe('s3a://r1/main/t');
  });
});
