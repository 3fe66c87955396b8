import type { TableType } from '@svc/sstable';
import { retryMissing, temporaryPath } from '../store/local-cache.ts';
import { LocalTables } from '../store/local-tables.ts';
import type { MetaRange } from '../format/meta-range.ts';
import type { CacheFolders, Namespace } from '../store/namespace.ts';
import type { TableLease } from '../store/open-tables.ts';
import type { TableDamage } from '../store/table-damage.ts';
import type { TableStore, WrittenTable } from '../store/table-store.ts';
import type { WorkerCall } from './worker-messages.ts';

const openMetaRanges = 16;

export interface WorkerStoreOptions {
  readonly folders: CacheFolders;
  readonly memoryBytes: number;
  readonly openRanges: number;
  readonly call: (request: WorkerCall) => Promise<void>;
  readonly damaged: (damage: TableDamage) => void;
}

/** A worker's tables: it reads and writes files of the cache folder, and asks the main thread for the rest. */
export class WorkerStore implements TableStore {
  readonly #folders: CacheFolders;
  readonly #call: (request: WorkerCall) => Promise<void>;
  readonly #tables: LocalTables;

  constructor({ folders, memoryBytes, openRanges, call, damaged }: WorkerStoreOptions) {
    this.#folders = folders;
    this.#call = call;
    this.#tables = new LocalTables({
      openRanges,
      openMetaRanges,
      memoryBytes,
      damaged,
      fetch: (namespace, kind, id, use) =>
        retryMissing(async () => {
          await call({ method: 'fetch', namespace, kind, id });
          return use();
        }),
      touch: () => undefined,
    });
  }

  openRange(namespace: Namespace, id: string): TableLease | Promise<TableLease> {
    return this.#tables.openRange(namespace, id);
  }

  metaRange(namespace: Namespace, id: string): MetaRange | Promise<MetaRange> {
    return this.#tables.metaRange(namespace, id);
  }

  prefetchRange(): void {}

  temporaryPath(type: TableType): string {
    return temporaryPath(type === 'ranges' ? this.#folders.range : this.#folders.metaRange);
  }

  publish(namespace: Namespace, table: WrittenTable): Promise<void> {
    return this.#call({ method: 'publish', namespace, table });
  }
}
