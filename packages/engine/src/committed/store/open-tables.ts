import {
  BlockCache,
  type BlockIndex,
  ClosedTableError,
  type CorruptTableError,
  FileSource,
  type TableCursor,
  TableReader,
  ValueScan,
} from '@svc/sstable';
import type { LookupTable } from '../format/meta-range.ts';

/**
 * The right to read an open table until `release`: the table stays open for as long. Cursors belong to their lease and
 * end with it.
 */
export class TableLease {
  readonly table: OpenTable;
  readonly #cursors: TableCursor[] = [];
  #reader: TableReader | undefined;

  constructor(table: OpenTable, reader: TableReader) {
    this.table = table;
    this.#reader = reader;
  }

  get id(): string {
    return this.table.id;
  }

  get index(): BlockIndex {
    return this.#held().index;
  }

  /** Bytes of the whole table. */
  get size(): number {
    return this.#held().source.size;
  }

  /** Reads from start to end; nothing it passes enters the cache. */
  scan(): TableCursor {
    const cursor = this.#held().scan();
    this.#cursors.push(cursor);
    return cursor;
  }

  /** Shows values only; nothing it passes enters the cache. */
  values(): ValueScan {
    return new ValueScan(this.#held());
  }

  /** Reads through the cache: for short runs. */
  cursor(): TableCursor {
    const cursor = this.#held().cursor();
    this.#cursors.push(cursor);
    return cursor;
  }

  /** A copy of the value of `key`; undefined when the table does not hold the key. */
  get(key: Uint8Array): Buffer | undefined {
    return this.#held().get(key);
  }

  release(): void {
    if (this.#reader === undefined) return;
    this.#reader = undefined;
    for (const cursor of this.#cursors) cursor.release();
    this.table.giveBack();
  }

  #held(): TableReader {
    if (this.#reader === undefined) throw new ClosedTableError('the lease of the table was released');
    return this.#reader;
  }
}

/**
 * A table of the pool. Its reader stays in here: whoever reads holds a lease, or is done with `find` before anything
 * else happens.
 */
export class OpenTable implements LookupTable {
  readonly id: string;
  /** Asked for since the pool last looked. */
  used = true;
  readonly #reader: TableReader;
  readonly #onIdle: () => void;
  #leases = 0;
  #retired = false;

  constructor(id: string, reader: TableReader, onIdle: () => void) {
    this.id = id;
    this.#reader = reader;
    this.#onIdle = onIdle;
  }

  /** The pool has let it go: ask the pool for another. */
  get isRetired(): boolean {
    return this.#retired;
  }

  get isLeased(): boolean {
    return this.#leases > 0;
  }

  /** What `use` takes from a cursor at the record of `key`; it is called at once, and the cursor is good only within. */
  find<Found>(key: Buffer, use: (cursor: TableCursor, key: Buffer) => Found): Found | undefined {
    this.used = true;
    const cursor = this.#reader.find(key);
    return cursor === undefined ? undefined : use(cursor, key);
  }

  lease(): TableLease {
    if (this.#retired) throw new ClosedTableError();
    this.used = true;
    this.#leases++;
    return new TableLease(this, this.#reader);
  }

  /** Only for leases. */
  giveBack(): void {
    this.#leases--;
    if (this.#leases > 0) return;
    if (this.#retired) this.#reader.close();
    else this.#onIdle();
  }

  /** Takes no new readers and closes as soon as the last one is done. */
  retire(): void {
    this.#retired = true;
    if (this.#leases === 0) this.#reader.close();
  }
}

/** Of the cache's bytes, those that indexes of open tables may take before some are closed. */
const indexShare = 3 / 4;

/**
 * Open tables by name, at most `limit` of them unless more are leased at once: then the pool grows, and shrinks again
 * as they are given back. Second chance instead of strict recency: a hit only sets a flag.
 */
export class OpenTables {
  readonly cache: BlockCache;
  readonly #limit: number;
  readonly #tables = new Map<string, OpenTable>();

  constructor(limit: number, cacheBytes: number) {
    this.#limit = limit;
    this.cache = new BlockCache(cacheBytes);
  }

  has(path: string): boolean {
    return this.#tables.has(path);
  }

  /** A lease of the table at `path`, if it is open. */
  leaseAtOnce(path: string): TableLease | undefined {
    return this.#tables.get(path)?.lease();
  }

  /**
   * A lease of the table at `path`; throws ENOENT when there is no file. A table that turns out damaged leaves the pool,
   * and readers are thrown what `damaged` answers.
   */
  lease(path: string, id: string, damaged: (error: CorruptTableError) => Error): TableLease {
    const known = this.leaseAtOnce(path);
    if (known !== undefined) return known;
    const reader = new TableReader(new FileSource(path), this.cache);
    const table = new OpenTable(id, reader, () => this.#trim());
    reader.onCorrupt = (error) => {
      this.#retire(path, table);
      return damaged(error);
    };
    this.#tables.set(path, table);
    const lease = table.lease();
    this.#trim();
    return lease;
  }

  /** Closes an idle table; false when it is being read. */
  letGo(path: string): boolean {
    const table = this.#tables.get(path);
    if (table === undefined) return true;
    if (table.isLeased) return false;
    this.#retire(path, table);
    return true;
  }

  /** Closes every table, those that are leased when they are given back. */
  close(): void {
    for (const [path, table] of this.#tables) this.#retire(path, table);
  }

  get #tooMany(): boolean {
    return this.#tables.size > this.#limit || this.cache.reserved > this.cache.capacity * indexShare;
  }

  #trim(): void {
    for (let left = 2 * this.#tables.size; left > 0 && this.#tooMany; left--) {
      const [path, table] = this.#tables.entries().next().value as [string, OpenTable];
      if (!table.isLeased && !table.used) {
        this.#retire(path, table);
        continue;
      }
      table.used = false;
      this.#tables.delete(path);
      this.#tables.set(path, table);
    }
  }

  #retire(path: string, table: OpenTable): void {
    // A damaged table may still be in use when another has taken its place.
    if (this.#tables.get(path) === table) this.#tables.delete(path);
    table.retire();
  }
}
