export { GlueMetastore } from './glue/glue-metastore.ts';
export type { GlueAccount } from './glue/glue-client.ts';
export { HiveMetastore } from './hive/hive-metastore.ts';
export { parseHiveAddress } from './hive/thrift/connection.ts';
export { MetastoreError, type MetastoreErrorKind } from './metastore-error.ts';
export type { Metastore } from './metastore.ts';
export type { MetastoreKind } from './model.ts';
export { copyAll, type CopyAllOutcome, type CopyAllReport } from './operations/copy-all.ts';
export { copyDatabase } from './operations/copy-database.ts';
export {
  copyPartition,
  copyTable,
  describeOutcome,
  nameOf,
  type CopyOutcome,
  type CopyRequest,
  type TablePlace,
} from './operations/copy-table.ts';
export { diffTables, type Differences, type TableDifferences } from './operations/diff-tables.ts';
export { amongSymlinks, inRepository, onBranch, type Relocate } from './operations/locations.ts';
