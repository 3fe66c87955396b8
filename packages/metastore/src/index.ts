export { GlueMetastore } from './glue/glue-metastore.ts';
export type { GlueAccount, SendGlue } from './glue/glue-client.ts';
export { HiveMetastore } from './hive/hive-metastore.ts';
export { parseHiveAddress, type HiveAddress, type HiveConnecting } from './hive/thrift/connection.ts';
export { MetastoreError, type MetastoreErrorKind } from './metastore-error.ts';
export type { Metastore } from './metastore.ts';
export type { MetastoreKind, Table } from './model.ts';
export { copyAll, type CopyAllOutcome, type CopyAllReport } from './operations/copy-all.ts';
export { copyDatabase } from './operations/copy-database.ts';
export { createSymlinkTable, type SymlinkRequest } from './operations/create-symlink-table.ts';
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
export {
  inRepository,
  isBranchName,
  isRepositoryName,
  onBranch,
  type Relocate,
} from './operations/locations.ts';
