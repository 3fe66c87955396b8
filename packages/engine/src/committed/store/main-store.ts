import type { TableType } from '@svc/sstable';
import { rm, stat } from 'node:fs/promises';
import { existsSync, writeFileSync } from 'node:fs';
import type { BlockTables } from './block-tables.ts';
import { type CacheObserver, LocalCache, retryMissing } from './local-cache.ts';
import { LocalTables } from './local-tables.ts';
import type { MetaRange } from '../format/meta-range.ts';
import type { CacheFolders, Namespace } from './namespace.ts';
import type { TableLease } from './open-tables.ts';
import { isDamage, type TableDamage, type TableKind } from './table-damage.ts';
import { tablePath } from '../format/table-id.ts';
import type { TableStore, WrittenTable } from './table-store.ts';

export interface MainStoreOptions {
  readonly folders: CacheFolders;
  readonly rangeBytes: number;
  readonly metaRangeBytes: number;
  readonly evict: boolean;
  readonly memoryBytes: number;
  readonly openRanges: number;
  readonly openMetaRanges: number;
  readonly blockTables: BlockTables;
  readonly observer?: CacheObserver | undefined;
  readonly onDamage?: ((damage: TableDamage) => void) | undefined;
}

const decodeDelayMs = 2;

/** The main thread's tables: local cache over the block store. */
export class MainStore implements TableStore {
  readonly tables: LocalTables;
  readonly #blockTables: BlockTables;
  readonly #onDamage: ((damage: TableDamage) => void) | undefined;
  readonly #caches: Record<TableKind, LocalCache>;

  constructor(options: MainStoreOptions) {
    this.#blockTables = options.blockTables;
    this.#onDamage = options.onDamage;
    this.tables = new LocalTables({
      openRanges: options.openRanges,
      openMetaRanges: options.openMetaRanges,
      memoryBytes: options.memoryBytes,
      fetch: (namespace, kind, id, use) => this.fetch(namespace, kind, id, use),
      touch: (kind, path) => this.#caches[kind].touch(path),
      damaged: (damage) => this.damaged(damage),
    });
    const { evict, observer } = options;
    this.#caches = {
      range: new LocalCache({
        kind: 'range',
        folder: options.folders.range,
        capacity: options.rangeBytes,
        evict,
        letGo: (path) => this.tables.open.letGo(path),
        observer,
      }),
      metarange: new LocalCache({
        kind: 'metarange',
        folder: options.folders.metaRange,
        capacity: options.metaRangeBytes,
        evict,
        letGo: () => true,
        observer,
      }),
    };
  }

  async start(): Promise<void> {
    await this.#caches.range.start();
    await this.#caches.metarange.start();
  }

  openRange(namespace: Namespace, id: string): TableLease | Promise<TableLease> {
    return this.tables.openRange(namespace, id);
  }

  metaRange(namespace: Namespace, id: string): MetaRange | Promise<MetaRange> {
    return this.tables.metaRange(namespace, id);
  }

  prefetchRange(namespace: Namespace, id: string): void {
    const path = pathOf(namespace, 'range', id);
    if (this.tables.open.has(path) || existsSync(path)) return;
    // Whoever needs the range asks again and sees the failure.
    this.fetch(namespace, 'range', id, () => undefined).catch(() => undefined);
  }

  /** What is not in the cache is read from `spare` and does not enter it. */
  async withRangeFile<Result>(
    namespace: Namespace,
    id: string,
    spare: string,
    use: (path: string) => Promise<Result>,
  ): Promise<Result> {
    const path = pathOf(namespace, 'range', id);
    if (existsSync(path)) return use(path);
    try {
      await this.#download(namespace, 'range', id, spare);
      return await use(spare);
    } finally {
      await rm(spare, { force: true });
    }
  }

  temporaryPath(type: TableType): string {
    return this.#caches[type === 'ranges' ? 'range' : 'metarange'].temporaryPath();
  }

  async publish(namespace: Namespace, table: WrittenTable): Promise<void> {
    const kind = table.type === 'ranges' ? 'range' : 'metarange';
    const path = pathOf(namespace, kind, table.id);
    const cache = this.#caches[kind];
    const { bytes } = table;
    try {
      const storing = this.#blockTables.upload(namespace, table);
      await Promise.all([storing, bytes === undefined ? undefined : writeSmallFile(table.path, bytes)]);
    } catch (error) {
      await rm(table.path, { force: true });
      throw error;
    }
    await cache.admit(table.path, path);
    cache.register(path, table.size);
    // A tree that was just written is often read next. Decoding it can wait until the writer has its answer.
    if (kind === 'metarange' && bytes !== undefined)
      setTimeout(() => this.tables.keepMetaRange(namespace, table.id, bytes), decodeDelayMs).unref();
  }

  /** Brings a table into the cache and runs `use` before it may be evicted. */
  async fetch<Result>(namespace: Namespace, kind: TableKind, id: string, use: () => Result): Promise<Result> {
    const cache = this.#caches[kind];
    const path = pathOf(namespace, kind, id);
    cache.hold(path);
    try {
      return await retryMissing(async () => {
        await cache.fetch(path, (temporary) => this.#download(namespace, kind, id, temporary));
        const result = use();
        // Another process may have evicted it since: then there is nothing to count.
        const about = await stat(path).catch(() => undefined);
        if (about !== undefined) cache.register(path, about.size);
        return result;
      });
    } finally {
      cache.release(path);
    }
  }

  async #download(namespace: Namespace, kind: TableKind, id: string, target: string): Promise<void> {
    try {
      await this.#blockTables.download(namespace, id, target);
    } catch (error) {
      const { storageNamespace } = namespace;
      if (isDamage(error))
        this.damaged({ kind, id, storageNamespace, reason: 'it is missing from the store' });
      throw error;
    }
  }

  /** A damaged table was found, here or in a worker. */
  damaged(damage: TableDamage): void {
    this.#onDamage?.(damage);
  }

  async close(): Promise<void> {
    this.tables.close();
    await this.#caches.range.close();
    await this.#caches.metarange.close();
  }
}

/** A few pages into the page cache: handing that to a thread would take longer. */
async function writeSmallFile(path: string, bytes: Uint8Array): Promise<void> {
  writeFileSync(path, bytes, { flag: 'wx', mode: 0o640 });
}

function pathOf(namespace: Namespace, kind: TableKind, id: string): string {
  return tablePath(kind === 'range' ? namespace.rangeFolder : namespace.metaRangeFolder, id);
}
