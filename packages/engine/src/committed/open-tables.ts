import { BlockCache, FileSource, TableReader } from '@svc/sstable';
import { rmSync } from 'node:fs';

/** A table open in this thread. */
export interface OpenTable {
  readonly reader: TableReader;
  readonly id: string;
  /** Open cursors; a table in use is not closed. */
  pins: number;
  used: boolean;
  closed: boolean;
}

/** Of the cache's bytes, those that indexes of open tables may take before some are closed. */
const indexShare = 3 / 4;

/**
 * Open tables by name, at most `limit` of them unless more are in use at once. Second chance instead of strict
 * recency: a hit only sets a flag.
 */
export class OpenTables {
  readonly cache: BlockCache;
  readonly #limit: number;
  readonly #tables = new Map<string, OpenTable>();

  constructor(limit: number, cacheBytes: number) {
    this.#limit = limit;
    this.cache = new BlockCache(cacheBytes);
  }

  get(path: string): OpenTable | undefined {
    const table = this.#tables.get(path);
    if (table !== undefined) table.used = true;
    return table;
  }

  /** Opens the file at `path`; throws ENOENT when it is not there. */
  open(path: string, id: string): OpenTable {
    const existing = this.get(path);
    if (existing !== undefined) return existing;
    const reader = new TableReader(new FileSource(path), this.cache);
    const table: OpenTable = { reader, id, pins: 0, used: true, closed: false };
    // A damaged copy goes, so that the next reader fetches a sound one.
    reader.onCorrupt = () => {
      this.#tables.delete(path);
      table.closed = true;
      if (table.pins === 0) reader.close();
      rmSync(path, { force: true });
    };
    this.#tables.set(path, table);
    // The caller has not come to pin it yet.
    table.pins++;
    this.#trim();
    table.pins--;
    return table;
  }

  /** Closes an idle table; false when it is being read. */
  letGo(path: string): boolean {
    const table = this.#tables.get(path);
    if (table === undefined) return true;
    if (table.pins > 0) return false;
    this.#close(path, table);
    return true;
  }

  close(): void {
    for (const [path, table] of this.#tables) this.#close(path, table);
  }

  get #tooMany(): boolean {
    return this.#tables.size > this.#limit || this.cache.reserved > this.cache.capacity * indexShare;
  }

  #trim(): void {
    for (let left = 2 * this.#tables.size; left > 0 && this.#tooMany; left--) {
      const [path, table] = this.#tables.entries().next().value as [string, OpenTable];
      if (table.pins === 0 && !table.used) {
        this.#close(path, table);
        continue;
      }
      table.used = false;
      this.#tables.delete(path);
      this.#tables.set(path, table);
    }
  }

  #close(path: string, table: OpenTable): void {
    this.#tables.delete(path);
    table.closed = true;
    table.reader.close();
  }
}
