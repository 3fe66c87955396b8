import type { TableType } from '@svc/sstable';
import type { MetaRange } from '../format/meta-range.ts';
import type { Namespace } from './namespace.ts';
import type { TableLease } from './open-tables.ts';

/** A table that is written and not visible yet. */
export interface WrittenTable {
  readonly type: TableType;
  readonly id: string;
  /** Its place in the workspace. */
  readonly path: string;
  readonly size: number;
  /** A small table as a whole; there is no file yet then. */
  readonly bytes: Uint8Array | undefined;
}

/** What tree operations need of the outside; the same on the main thread and in a worker. */
export interface TableStore {
  /** A lease of the range's table, which its taker releases; a promise only when the table has to be fetched. */
  openRange(namespace: Namespace, id: string): TableLease | Promise<TableLease>;
  metaRange(namespace: Namespace, id: string): MetaRange | Promise<MetaRange>;
  /** Starts fetching a range that will be needed soon. */
  prefetchRange(namespace: Namespace, id: string): void;
  /** A fresh path for a table that is about to be written. */
  temporaryPath(type: TableType): string;
  /** Stores the table and puts it into the cache. */
  publish(namespace: Namespace, table: WrittenTable): Promise<void>;
}
