import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Metastore } from '../src/metastore.ts';
import type { Partition, Storage, Table } from '../src/model.ts';
import {
  copyAll,
  copyDatabase,
  copyPartition,
  copyTable,
  diffTables,
  inRepository,
  onBranch,
  type CopyAllReport,
} from '../src/index.ts';

export interface Pair {
  readonly from: Metastore;
  readonly to: Metastore;
  readonly close: () => Promise<void>;
}

const silent: CopyAllReport = {
  started: () => undefined,
  progress: () => undefined,
  finished: () => undefined,
  failed: () => undefined,
};

export function storageAt(location: string): Storage {
  return {
    columns: [
      { name: 'id', type: 'bigint', comment: 'unique' },
      { name: 'amount', type: 'double' },
    ],
    location,
    inputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat',
    outputFormat: 'org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat',
    compressed: false,
    buckets: 4,
    serde: {
      name: 'orders',
      library: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe',
      parameters: { 'serialization.format': '1' },
    },
    bucketColumns: ['id'],
    sortColumns: [{ column: 'id', order: 1 }],
    parameters: { made: 'here' },
  };
}

export function ordersTable(database: string): Table {
  return {
    database,
    name: 'orders',
    owner: 'ada',
    lastAccessTime: 0,
    retention: 0,
    storage: storageAt('s3a://lake/main/orders'),
    partitionKeys: [{ name: 'year', type: 'string', comment: 'of the order' }],
    parameters: { EXTERNAL: 'TRUE', note: 'ünicode' },
    tableType: 'EXTERNAL_TABLE',
  };
}

export function ordersPartition(database: string, year: string): Partition {
  return {
    database,
    table: 'orders',
    values: [year],
    lastAccessTime: 0,
    storage: storageAt(`s3a://lake/main/orders/year=${year}`),
    parameters: { rows: year },
  };
}

/** What copying means, whatever the two metastores are. Within one, copies of everything would replace it. */
export function describeCopies(name: string, open: () => Promise<Pair>, where?: 'within one'): void {
  describe(name, () => {
    let pair: Pair;
    let from: Metastore;
    let to: Metastore;
    beforeAll(async () => {
      pair = await open();
      ({ from, to } = pair);
    }, 120_000);
    afterAll(() => pair.close());

    /** A schema with the table `orders` and these years. */
    async function source(years: readonly string[]): Promise<string> {
      const database = `s${randomUUID().replaceAll('-', '')}`;
      await from.createDatabase({ name: database, location: 's3a://lake/main/db', parameters: { a: 'b' } });
      await from.createTable(ordersTable(database));
      await from.addPartitions(years.map((year) => ordersPartition(database, year)));
      return database;
    }
    const schemaFor = async (database: string, target = `${database}_dev`): Promise<string> => {
      await copyDatabase({
        from: { metastore: from, database },
        to: { metastore: to, database: target },
        relocate: onBranch('dev'),
        dryRun: false,
      });
      return target;
    };
    const requestFor = (database: string, target: string, dryRun = false) => ({
      from: { metastore: from, database, table: 'orders' },
      to: { metastore: to, database: target, table: 'orders' },
      rewrite: { serde: 'orders', relocate: onBranch('dev'), fixSparkPlaceholder: false },
      dryRun,
    });

    it('copies a table with its partitions to a branch, and a diff shows nothing', async () => {
      const database = await source(['2024', '2025']);
      const target = await schemaFor(database);
      expect(await to.getDatabase(target)).toMatchObject({
        name: target,
        location: 's3a://lake/dev/db',
        parameters: { a: 'b' },
      });
      const request = requestFor(database, target);
      expect(await copyTable({ ...request, dryRun: true })).toEqual({
        table: 'created',
        partitions: { added: 2, altered: 0, dropped: 0, unchanged: 0 },
      });
      expect(await to.getTable(target, 'orders')).toBeUndefined();
      expect(await copyTable(request)).toEqual({
        table: 'created',
        partitions: { added: 2, altered: 0, dropped: 0, unchanged: 0 },
      });
      const copy = await to.getTable(target, 'orders');
      const original = ordersTable(database);
      expect(copy).toMatchObject({
        ...original,
        database: target,
        storage: { ...original.storage, location: 's3a://lake/dev/orders' },
      });
      expect(await to.getPartition(target, 'orders', ['2024'])).toMatchObject({
        values: ['2024'],
        storage: { location: 's3a://lake/dev/orders/year=2024', serde: { name: 'orders' } },
        parameters: { rows: '2024' },
      });
      const nothing = { added: [], removed: [], changed: [] };
      expect(await diffTables(request.from, request.to)).toEqual({ columns: nothing, partitions: nothing });
      expect(await copyTable(request)).toEqual({
        table: 'altered',
        partitions: { added: 0, altered: 0, dropped: 0, unchanged: 2 },
      });
    });

    it('brings a copy up to date: adds, alters and drops partitions', async () => {
      const database = await source(['2023', '2024', '2025']);
      const target = await schemaFor(database);
      const request = requestFor(database, target);
      await copyTable(request);
      await from.dropPartition(ordersPartition(database, '2023'));
      await from.alterPartitions([{ ...ordersPartition(database, '2024'), parameters: { rows: 'more' } }]);
      await from.addPartitions([ordersPartition(database, '2026')]);
      const { storage } = ordersTable(database);
      const wider = {
        ...storageAt(''),
        columns: [...(storage?.columns ?? []), { name: 'c', type: 'string' }],
      };
      await from.alterTable({
        ...ordersTable(database),
        storage: { ...wider, location: 's3a://lake/main/orders' },
      });
      expect(await diffTables(request.from, request.to)).toEqual({
        columns: { added: ['c'], removed: [], changed: [] },
        partitions: { added: ['2026'], removed: ['2023'], changed: ['2024'] },
      });
      expect(await copyTable({ ...request, dryRun: true })).toEqual(await copyTable(request));
      const nothing = { added: [], removed: [], changed: [] };
      expect(await diffTables(request.from, request.to)).toEqual({ columns: nothing, partitions: nothing });
      expect(await to.getPartition(target, 'orders', ['2023'])).toBeUndefined();
    });

    it('moves the partitions of a copy to another branch', async () => {
      const database = await source(['2024']);
      const target = await schemaFor(database);
      const request = requestFor(database, target);
      await copyTable(request);
      const moved = await copyTable({
        ...request,
        rewrite: { ...request.rewrite, relocate: onBranch('next') },
      });
      expect(moved.partitions).toEqual({ added: 0, altered: 1, dropped: 0, unchanged: 0 });
      const partition = await to.getPartition(target, 'orders', ['2024']);
      expect(partition?.storage?.location).toBe('s3a://lake/next/orders/year=2024');
    });

    it('copies one partition, also one that is not there', async () => {
      const database = await source(['2024']);
      const target = await schemaFor(database);
      const request = requestFor(database, target);
      await expect(copyPartition(request, ['2024'])).rejects.toThrow(/copy the whole table first/);
      await copyTable(request);
      await from.addPartitions([ordersPartition(database, '2025')]);
      const none = { added: 0, altered: 0, dropped: 0, unchanged: 0 };
      expect(await copyPartition(request, ['2025'])).toEqual({
        table: 'kept',
        partitions: { ...none, added: 1 },
      });
      expect(await copyPartition(request, ['2025'])).toEqual({
        table: 'kept',
        partitions: { ...none, altered: 1 },
      });
      await expect(copyPartition(request, ['1999'])).rejects.toThrow(/has no partition 1999/);
      await expect(copyPartition(request, ['a', 'b'])).rejects.toThrow(/has 1 values \(year\), not 2/);
    });

    it('copies views as they are', async () => {
      const database = await source([]);
      const target = await schemaFor(database);
      const view = {
        ...ordersTable(database),
        name: 'big_orders',
        storage: { ...storageAt(''), location: undefined },
        partitionKeys: [],
        viewOriginalText: 'select * from orders where amount > 10',
        viewExpandedText: 'select `orders`.`id` from `orders` where `orders`.`amount` > 10',
        tableType: 'VIRTUAL_VIEW',
      };
      await from.createTable(view);
      const request = requestFor(database, target);
      await copyTable({
        ...request,
        from: { ...request.from, table: 'big_orders' },
        to: { ...request.to, table: 'big_orders' },
      });
      expect(await to.getTable(target, 'big_orders')).toMatchObject({
        tableType: 'VIRTUAL_VIEW',
        viewOriginalText: view.viewOriginalText,
        viewExpandedText: view.viewExpandedText,
      });
    });

    it('names what is missing', async () => {
      const database = await source([]);
      const request = requestFor(database, 'nowhere');
      await expect(copyTable(request)).rejects.toThrow(/no schema nowhere in the .* copy-schema/);
      await expect(copyTable({ ...request, from: { ...request.from, table: 'nothing' } })).rejects.toThrow(
        new RegExp(`no table ${database}.nothing in the`),
      );
      await schemaFor(database);
      await expect(schemaFor(database)).rejects.toThrow(/is already in/);
    });

    it.skipIf(where === 'within one')(
      'copies everything that matches, making schemas on the way',
      async () => {
        const database = await source(['2024']);
        const other = { ...ordersTable(database), name: 'local', partitionKeys: [] };
        await from.createTable({ ...other, storage: storageAt('s3a://bucket/somewhere') });
        const request = {
          from,
          to,
          databases: database,
          tables: '.*',
          rewrite: { relocate: inRepository('lake', 'main'), fixSparkPlaceholder: false },
          warehouse: '',
          continueOnError: true,
          report: silent,
        };
        expect(await copyAll({ ...request, dryRun: true })).toEqual({ copied: 2, failed: 0 });
        expect(await to.getDatabase(database)).toBeUndefined();
        expect(await copyAll({ ...request, dryRun: false })).toEqual({ copied: 2, failed: 0 });
        expect((await to.getTable(database, 'local'))?.storage?.location).toBe('s3a://lake/main/somewhere');
        expect((await to.getTable(database, 'orders'))?.storage?.location).toBe(
          's3a://lake/main/main/orders',
        );
        expect(await copyAll({ ...request, dryRun: false })).toEqual({ copied: 2, failed: 0 });
      },
    );
  });
}
