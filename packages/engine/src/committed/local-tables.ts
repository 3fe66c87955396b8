import { CorruptTableError, MemorySource, TableReader } from '@svc/sstable';
import { readFileSync, rmSync } from 'node:fs';
import { isMissing } from './local-cache.ts';
import { MetaRange, readMetaRange } from './meta-range.ts';
import { MetaRangeCache } from './meta-range-cache.ts';
import type { Namespace } from './namespace.ts';
import { type OpenTable, OpenTables } from './open-tables.ts';
import { tablePath } from './table-id.ts';

export interface LocalTablesOptions {
  readonly openRanges: number;
  readonly openMetaRanges: number;
  readonly memoryBytes: number;
  /** Brings the table's file to `path`; `use` runs before the file may go again. */
  readonly fetch: <Result>(
    namespace: Namespace,
    kind: 'range' | 'metarange',
    id: string,
    use: () => Result,
  ) => Promise<Result>;
  readonly touch: (kind: 'range' | 'metarange', path: string) => void;
}

/** Tables of the cache folder as one thread reads them. */
export class LocalTables {
  readonly open: OpenTables;
  readonly #metaRanges: MetaRangeCache;
  readonly #options: LocalTablesOptions;

  constructor(options: LocalTablesOptions) {
    this.#options = options;
    // Decoded metaranges are few and hot; a quarter is far more than they need.
    const forMetaRanges = Math.floor(options.memoryBytes / 4);
    this.open = new OpenTables(options.openRanges, options.memoryBytes - forMetaRanges);
    this.#metaRanges = new MetaRangeCache(options.openMetaRanges, forMetaRanges);
  }

  openRange(namespace: Namespace, id: string): OpenTable | Promise<OpenTable> {
    const path = tablePath(namespace.rangeFolder, id);
    const known = this.open.get(path);
    if (known !== undefined) return known;
    const load = (): OpenTable => this.open.open(path, id);
    const opened = this.#tryLocal(path, load);
    if (opened === undefined) return this.#options.fetch(namespace, 'range', id, load);
    this.#options.touch('range', path);
    return opened;
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
    const loaded = this.#tryLocal(path, load);
    if (loaded === undefined) return this.#options.fetch(namespace, 'metarange', id, load);
    this.#options.touch('metarange', path);
    return loaded;
  }

  /** Takes the bytes of a metarange that was just written, which spares reading them again. */
  keepMetaRange(namespace: Namespace, id: string, bytes: Uint8Array): void {
    this.#metaRanges.set(namespace.metaRangeFolder, id, decodeMetaRange(bytes));
  }

  close(): void {
    this.open.close();
  }

  /** Undefined when the file is not there or is damaged; a damaged copy is removed. */
  #tryLocal<Result>(path: string, load: () => Result): Result | undefined {
    try {
      return load();
    } catch (error) {
      if (isMissing(error)) return undefined;
      if (!(error instanceof CorruptTableError)) throw error;
      rmSync(path, { force: true });
      return undefined;
    }
  }
}

function decodeMetaRange(bytes: Uint8Array): MetaRange {
  return readMetaRange(new TableReader(new MemorySource(bytes)).scan());
}
