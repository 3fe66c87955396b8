import { CorruptTableError, MemorySource, TableReader } from '@svc/sstable';
import { readFileSync, rmSync } from 'node:fs';
import { isMissing } from './local-cache.ts';
import { MetaRange, readMetaRange } from '../format/meta-range.ts';
import { MetaRangeCache } from './meta-range-cache.ts';
import type { Namespace } from './namespace.ts';
import { OpenTables, type TableLease } from './open-tables.ts';
import { damageError, damageOf, isDamage, type TableDamage, type TableKind } from './table-damage.ts';
import { tablePath } from '../format/table-id.ts';

export interface LocalTablesOptions {
  readonly openRanges: number;
  readonly openMetaRanges: number;
  readonly memoryBytes: number;
  /** Brings the table's file to `path`; `use` runs before the file may go again. */
  readonly fetch: <Result>(
    namespace: Namespace,
    kind: TableKind,
    id: string,
    use: () => Result,
  ) => Promise<Result>;
  readonly touch: (kind: TableKind, path: string) => void;
  readonly damaged: (damage: TableDamage) => void;
}

/** Tables of the cache folder as one thread reads them. */
export class LocalTables {
  readonly open: OpenTables;
  readonly #metaRanges: MetaRangeCache;
  readonly #options: LocalTablesOptions;
  /** Damaged files that just came from the store: the error for everybody who waited for one. */
  readonly #fetchedDamaged = new Map<string, Error>();

  constructor(options: LocalTablesOptions) {
    this.#options = options;
    // Decoded metaranges are few and hot; a quarter is far more than they need.
    const forMetaRanges = Math.floor(options.memoryBytes / 4);
    this.open = new OpenTables(options.openRanges, options.memoryBytes - forMetaRanges);
    this.#metaRanges = new MetaRangeCache(options.openMetaRanges, forMetaRanges);
  }

  openRange(namespace: Namespace, id: string): TableLease | Promise<TableLease> {
    const path = tablePath(namespace.rangeFolder, id);
    const known = this.open.leaseAtOnce(path);
    if (known !== undefined) return known;
    const load = (): TableLease =>
      this.open.lease(path, id, (error) => this.#drop(path, namespace, 'range', id, error));
    return this.#load(namespace, 'range', id, path, load);
  }

  metaRange(namespace: Namespace, id: string): MetaRange | Promise<MetaRange> {
    if (id === '') return MetaRange.empty;
    const folder = namespace.metaRangeFolder;
    const known = this.#metaRanges.get(folder, id);
    if (known !== undefined) return known;
    const path = tablePath(folder, id);
    const load = (): MetaRange => {
      // All of it is needed, so it is read at once.
      const metaRange = decodeMetaRange(readFileSync(path));
      this.#metaRanges.set(folder, id, metaRange);
      return metaRange;
    };
    return this.#load(namespace, 'metarange', id, path, load);
  }

  /** Takes the bytes of a metarange that was just written, which spares reading them again. */
  keepMetaRange(namespace: Namespace, id: string, bytes: Uint8Array): void {
    this.#metaRanges.set(namespace.metaRangeFolder, id, decodeMetaRange(bytes));
  }

  close(): void {
    this.open.close();
  }

  /** Loads the cached copy; one that is missing or damaged is fetched from the store, where damage is final. */
  #load<Result>(
    namespace: Namespace,
    kind: TableKind,
    id: string,
    path: string,
    load: () => Result,
  ): Result | Promise<Result> {
    const loadOrDrop = (): Result => {
      try {
        return load();
      } catch (error) {
        if (!(error instanceof CorruptTableError)) throw error;
        throw this.#drop(path, namespace, kind, id, error);
      }
    };
    let loaded: Result;
    try {
      loaded = loadOrDrop();
    } catch (error) {
      if (!isMissing(error) && !isDamage(error)) throw error;
      return this.#options.fetch(namespace, kind, id, () => this.#loadFetched(path, loadOrDrop));
    }
    this.#options.touch(kind, path);
    return loaded;
  }

  /** Everybody who waited for the same file comes here in the same turn; the first has removed it when it is damaged. */
  #loadFetched<Result>(path: string, load: () => Result): Result {
    const known = this.#fetchedDamaged.get(path);
    if (known !== undefined) throw known;
    try {
      return load();
    } catch (error) {
      if (isDamage(error)) {
        this.#fetchedDamaged.set(path, error as Error);
        setImmediate(() => this.#fetchedDamaged.delete(path));
      }
      throw error;
    }
  }

  /** Removes a damaged copy, so that the next reader fetches another, and tells of it. */
  #drop(path: string, namespace: Namespace, kind: TableKind, id: string, error: CorruptTableError): Error {
    rmSync(path, { force: true });
    this.#options.damaged(damageOf(namespace, kind, id, error));
    return damageError(namespace, id, error);
  }
}

function decodeMetaRange(bytes: Uint8Array): MetaRange {
  return readMetaRange(new TableReader(new MemorySource(bytes)).scan());
}
