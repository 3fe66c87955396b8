import { MetastoreError } from '../metastore-error.ts';
import { partitionName, type Partition, type Storage, type Table } from '../model.ts';
import type { Relocate } from './locations.ts';

export interface TableRewrite {
  readonly database: string;
  readonly table: string;
  readonly serde: string;
  readonly relocate: Relocate;
  readonly inputFormat?: string | undefined;
  /** Give Spark's tables their real location in place of its placeholder. */
  readonly fixSparkPlaceholder: boolean;
}

/** Spark notes where a table of its own sources is in the serde's parameters, and may leave this as location. */
const placeholder = '-__PLACEHOLDER__';
const sparkProvider = 'spark.sql.sources.provider';
const sparkPath = 'path';

export function rewriteTable(table: Table, rewrite: TableRewrite): Table {
  const isSpark = sparkProvider in table.parameters;
  const storage = within(`table ${table.database}.${table.name}`, () =>
    rewriteStorage(table.storage, rewrite, isSpark),
  );
  return {
    ...table,
    database: rewrite.database,
    name: rewrite.table,
    storage:
      storage !== undefined && isSpark && rewrite.fixSparkPlaceholder ? withRealLocation(storage) : storage,
  };
}

export function rewritePartition(partition: Partition, table: Table, rewrite: TableRewrite): Partition {
  const isSpark = sparkProvider in table.parameters;
  const what = `partition ${partitionName(partition)} of ${table.database}.${table.name}`;
  return {
    ...partition,
    database: rewrite.database,
    table: rewrite.table,
    storage: within(what, () => rewriteStorage(partition.storage, rewrite, isSpark)),
  };
}

function rewriteStorage(
  storage: Storage | undefined,
  { relocate, serde: serdeName, inputFormat }: TableRewrite,
  isSpark: boolean,
): Storage | undefined {
  if (storage === undefined) return undefined;
  const { location = '', serde } = storage;
  const path = serde?.parameters[sparkPath];
  const keepLocation = location === '' || (isSpark && location.endsWith(placeholder));
  return {
    ...storage,
    location: keepLocation ? storage.location : relocate(location),
    additionalLocations: storage.additionalLocations?.map((additional) => relocate(additional)),
    inputFormat: inputFormat ?? storage.inputFormat,
    serde: serde && {
      ...serde,
      name: serdeName,
      parameters:
        isSpark && path !== undefined
          ? { ...serde.parameters, [sparkPath]: relocate(path) }
          : serde.parameters,
    },
  };
}

function withRealLocation(storage: Storage): Storage {
  const path = storage.serde?.parameters[sparkPath];
  return path !== undefined && storage.location?.endsWith(placeholder) === true
    ? { ...storage, location: path }
    : storage;
}

function within<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MetastoreError) throw new MetastoreError(error.kind, `${what}: ${error.message}`);
    throw error;
  }
}
