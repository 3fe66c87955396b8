import type { Database, MetastoreKind, Partition, Table } from './model.ts';

/** A catalog of tables. What is not there is `undefined`; every other refusal is a `MetastoreError`. */
export interface Metastore {
  readonly kind: MetastoreKind;
  /** For messages: which one it is. */
  readonly label: string;
  /** How many partitions one call adds or alters: what is larger is not all or nothing. */
  readonly batches: { readonly add: number; readonly alter: number };
  /** Databases whose whole name matches the pattern, as this kind of metastore understands it. */
  listDatabases(pattern: string): Promise<string[]>;
  getDatabase(name: string): Promise<Database | undefined>;
  createDatabase(database: Database): Promise<void>;
  listTables(database: string, pattern: string): Promise<string[]>;
  getTable(database: string, name: string): Promise<Table | undefined>;
  createTable(table: Table): Promise<void>;
  alterTable(table: Table): Promise<void>;
  /** All partitions, in batches. */
  partitions(database: string, table: string): AsyncIterable<readonly Partition[]>;
  getPartition(database: string, table: string, values: readonly string[]): Promise<Partition | undefined>;
  /** At most a batch, of one table. */
  addPartitions(partitions: readonly Partition[]): Promise<void>;
  /** At most a batch, of one table. */
  alterPartitions(partitions: readonly Partition[]): Promise<void>;
  /** Its data stays. */
  dropPartition(partition: Partition): Promise<void>;
  close(): void;
}
