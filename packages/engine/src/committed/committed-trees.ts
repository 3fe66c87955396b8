import type { TableCursor } from '@svc/sstable';
import { EngineError } from '../errors.ts';
import { type BlockStoreSet, BlockTables } from './store/block-tables.ts';
import type { CommittedContext } from './context.ts';
import type { CacheObserver } from './store/local-cache.ts';
import { MainStore } from './store/main-store.ts';
import { noTakes } from './operations/conflict-policy.ts';
import { KnownDiff } from './reading/known-diff.ts';
import { type LookUp, MergeDiff } from './reading/merge-diff.ts';
import type { MetaRange } from './format/meta-range.ts';
import { cacheFolders, type CacheFolders, type Namespace, resolveNamespace } from './store/namespace.ts';
import { OperationRunner } from './threads/operation-runner.ts';
import type { Operation } from './operations/operations.ts';
import { keysOf, Packer } from './operations/packed-changes.ts';
import { KnownDifferences, maxKnownKeys, type DifferenceNews } from './reading/known-differences.ts';
import { foundRecord, foundValue } from './format/found-record.ts';
import { LazyDiff, LazyMergeDiff } from './reading/lazy-diff.ts';
import type { TableLease } from './store/open-tables.ts';
import { asEngineError, isDamage, type TableDamage, translated } from './store/table-damage.ts';
import { type TreeChanges, TreeDiff } from './reading/tree-diff.ts';
import { TreeIterator } from './reading/tree-iterator.ts';
import { rangesOf, visitRange } from './reading/range-values.ts';
import { areTablesStored, describeTable, readStoredOutline } from './store/stored-trees.ts';
import type { SplitSettings } from './operations/tree-writer.ts';
import type {
  ApplyResult,
  ChangeIterator,
  CommittedTrees,
  DiffIterator,
  DumpProperties,
  ImportScope,
  MergeDiffIterator,
  MergeInput,
  MergeResult,
  PatternResolution,
  RecordIterator,
  TableDescription,
  TreeOutline,
  TreeRange,
  TreeRecord,
  UseValue,
} from './tree.ts';
import { WorkerHost } from './threads/worker-host.ts';

export interface CommittedTreesOptions {
  readonly blockStores: BlockStoreSet;
  readonly cacheDir: string;
  readonly cacheSizeBytes: number;
  /** Parts of the cache folder for ranges and metaranges; they add up to 1. */
  readonly rangeProportion: number;
  readonly metarangeProportion: number;
  /** Decoded blocks and metaranges in memory, of this process. */
  readonly memoryCacheBytes: number;
  readonly openRanges?: number | undefined;
  readonly openMetaRanges?: number | undefined;
  readonly minRangeSize: number;
  readonly maxRangeSize: number;
  readonly raggedness: number;
  /** True in exactly one process of a server. */
  readonly evict: boolean;
  /** Heavy work runs in a thread of its own; false keeps it here, in slices. */
  readonly worker?: boolean | undefined;
  readonly cacheObserver?: CacheObserver | undefined;
  /** Of other processes that read the same trees. */
  readonly differenceNews?: DifferenceNews | undefined;
  /** Told of every damaged or missing table that is found. */
  readonly onDamage?: ((damage: TableDamage) => void) | undefined;
}

const defaultOpenRanges = 500;
const workerOpenRanges = 64;

/** Opens the trees: prepares the cache folder and clears what a crash left in it. */
export async function createCommittedTrees(options: CommittedTreesOptions): Promise<CommittedTrees> {
  const { rangeProportion, metarangeProportion } = options;
  if (Math.abs(rangeProportion + metarangeProportion - 1) > 1e-6) {
    throw new EngineError(
      'invalid',
      `the cache proportions of ranges (${rangeProportion}) and metaranges (${metarangeProportion}) must add up to 1`,
    );
  }
  const folders = cacheFolders(options.cacheDir);
  const blockTables = new BlockTables(options.blockStores);
  const openRanges = options.openRanges ?? defaultOpenRanges;
  const store = new MainStore({
    folders,
    rangeBytes: options.cacheSizeBytes * rangeProportion,
    metaRangeBytes: options.cacheSizeBytes * metarangeProportion,
    evict: options.evict,
    memoryBytes: options.memoryCacheBytes,
    openRanges,
    openMetaRanges: options.openMetaRanges ?? 50,
    blockTables,
    observer: options.cacheObserver,
    onDamage: options.onDamage,
  });
  await store.start();
  const { minRangeSize, maxRangeSize, raggedness } = options;
  const split = { minRangeSize, maxRangeSize, raggedness };
  const worker =
    options.worker === false
      ? undefined
      : new WorkerHost(store, {
          role: 'trees',
          folders,
          split,
          memoryBytes: Math.min(16 * 1024 * 1024, options.memoryCacheBytes),
          openRanges: Math.min(workerOpenRanges, openRanges),
        });
  return new Trees({ store, blockTables, folders, split, worker, news: options.differenceNews });
}

interface TreesParts {
  readonly store: MainStore;
  readonly blockTables: BlockTables;
  readonly folders: CacheFolders;
  readonly split: SplitSettings;
  readonly worker: WorkerHost | undefined;
  readonly news: DifferenceNews | undefined;
}

class Trees implements CommittedTrees {
  readonly #parts: TreesParts;
  readonly #runner: OperationRunner;
  readonly #differences: KnownDifferences;
  readonly #namespaces = new WeakMap<CommittedContext, Namespace>();

  constructor(parts: TreesParts) {
    this.#parts = parts;
    this.#runner = new OperationRunner(parts);
    this.#differences = new KnownDifferences(parts.news);
  }

  getAtOnce(context: CommittedContext, metaRangeId: string, key: Buffer): TreeRecord | undefined | null {
    const namespace = this.#namespace(context);
    const meta = this.#parts.store.metaRange(namespace, metaRangeId);
    if (meta instanceof Promise) {
      // `get` asks again and sees the failure.
      meta.catch(() => undefined);
      return null;
    }
    let found: TreeRecord | undefined | Promise<TreeRecord | undefined>;
    try {
      found = this.#find(namespace, meta, key, foundRecord);
    } catch (error) {
      // The damaged copy is gone; what the store has is for `get` to say.
      if (isDamage(error)) return null;
      throw error;
    }
    if (!(found instanceof Promise)) return found;
    // As above.
    found.catch(() => undefined);
    return null;
  }

  async get(context: CommittedContext, metaRangeId: string, key: Buffer): Promise<TreeRecord | undefined> {
    const namespace = this.#namespace(context);
    try {
      const loaded = this.#parts.store.metaRange(namespace, metaRangeId);
      const meta = loaded instanceof Promise ? await loaded : loaded;
      return await this.#findAgain(namespace, meta, key, foundRecord);
    } catch (error) {
      throw asEngineError(error);
    }
  }

  iterate(
    context: CommittedContext,
    metaRangeId: string,
    from?: Uint8Array,
    to?: Uint8Array,
  ): RecordIterator {
    return new TreeIterator(this.#parts.store, this.#namespace(context), metaRangeId, { from, to });
  }

  async apply(context: CommittedContext, baseId: string, changes: ChangeIterator): Promise<ApplyResult> {
    const namespace = this.#namespace(context);
    const operation: Operation = { kind: 'apply', namespace, baseId, always: false, properties: undefined };
    let keys: readonly Buffer[] | undefined;
    const result = (await this.#runner.runWithRecords(operation, new Packer(changes, true), (all) => {
      if (all.count <= maxKnownKeys) keys = keysOf(all);
    })) as ApplyResult;
    // What a commit changed is often asked for next.
    if (keys !== undefined && result.metaRangeId !== baseId)
      this.#differences.set(baseId, result.metaRangeId, keys);
    return result;
  }

  diff(context: CommittedContext, leftId: string, rightId: string, from?: Uint8Array): DiffIterator {
    const namespace = this.#namespace(context);
    const { store } = this.#parts;
    return new LazyDiff(async () => {
      const [left, right] = await Promise.all([
        store.metaRange(namespace, leftId),
        leftId === rightId ? undefined : store.metaRange(namespace, rightId),
      ]);
      return this.#changes(namespace, leftId, left, rightId, right ?? left);
    }, from);
  }

  mergeDiff(
    context: CommittedContext,
    input: Omit<MergeInput, 'strategy'>,
    from?: Uint8Array,
  ): MergeDiffIterator {
    const namespace = this.#namespace(context);
    const { store } = this.#parts;
    const { base, source } = input;
    return new LazyMergeDiff(async () => {
      const [left, right, destination] = await Promise.all([
        store.metaRange(namespace, base),
        store.metaRange(namespace, source),
        input.destination === base ? undefined : store.metaRange(namespace, input.destination),
      ]);
      const changes = this.#changes(namespace, base, left, source, right);
      return new MergeDiff(changes, (key) => this.#find(namespace, destination ?? left, key, foundValue));
    }, from);
  }

  async merge(
    context: CommittedContext,
    input: MergeInput,
    whileStoring?: (metaRangeId: string) => void,
  ): Promise<MergeResult> {
    const known = resultWithoutReading(input);
    if (known !== undefined) return { kind: 'merged', metaRangeId: known };
    const operation: Operation = { kind: 'merge', namespace: this.#namespace(context), input };
    return (await this.#runner.run(operation, undefined, whileStoring)) as MergeResult;
  }

  async mergeResolved(
    context: CommittedContext,
    input: MergeInput & { readonly patterns: readonly PatternResolution[] },
    exact: RecordIterator,
  ): Promise<MergeResult> {
    const known = resultWithoutReading(input);
    if (known !== undefined) {
      // Nothing is in conflict.
      if (await exact.next()) return { kind: 'unfit', key: Buffer.from(exact.key) };
      return { kind: 'merged', metaRangeId: known, resolved: noTakes() };
    }
    const operation: Operation = { kind: 'merge', namespace: this.#namespace(context), input };
    return (await this.#runner.runWithRecords(operation, new Packer(exact, false))) as MergeResult;
  }

  async mergeImport(
    context: CommittedContext,
    destinationId: string,
    importedId: string,
    scope: ImportScope,
  ): Promise<string> {
    const namespace = this.#namespace(context);
    const result = await this.#runner.run({ kind: 'import', namespace, destinationId, importedId, scope });
    return (result as { metaRangeId: string }).metaRangeId;
  }

  async write(
    context: CommittedContext,
    records: RecordIterator,
    dump?: DumpProperties,
  ): Promise<{ metaRangeId: string; count: number }> {
    const operation: Operation = {
      kind: 'apply',
      namespace: this.#namespace(context),
      baseId: '',
      always: true,
      properties:
        dump === undefined
          ? undefined
          : { entity: dump.entity, schema_name: dump.schemaName, schema_definition: dump.schemaDefinition },
    };
    const result = (await this.#runner.runWithRecords(operation, new Packer(records, false))) as ApplyResult;
    return { metaRangeId: result.metaRangeId, count: result.added };
  }

  outline(context: CommittedContext, metaRangeId: string): Promise<TreeOutline | undefined> {
    return translated(() => readStoredOutline(this.#parts.blockTables, context, metaRangeId));
  }

  describe(context: CommittedContext, id: string): Promise<TableDescription | undefined> {
    return describeTable(this.#parts.blockTables, context, id);
  }

  ranges(context: CommittedContext, metaRangeId: string): Promise<readonly TreeRange[]> {
    return translated(async () =>
      rangesOf(await this.#parts.store.metaRange(this.#namespace(context), metaRangeId)),
    );
  }

  visitRange(
    context: CommittedContext,
    id: string,
    use: UseValue,
    pause?: () => Promise<void>,
  ): Promise<void> {
    return translated(() => visitRange(this.#parts.store, this.#namespace(context), id, use, pause));
  }

  withRangeFile<Result>(
    context: CommittedContext,
    id: string,
    spare: string,
    use: (path: string) => Promise<Result>,
  ): Promise<Result> {
    return this.#parts.store.withRangeFile(this.#namespace(context), id, spare, use);
  }

  areStored(context: CommittedContext, metaRangeId: string, baseId: string): Promise<boolean> {
    return areTablesStored(this.#parts.blockTables, context, metaRangeId, baseId);
  }

  async close(): Promise<void> {
    await this.#parts.worker?.close();
    await this.#parts.store.close();
  }

  #namespace(context: CommittedContext): Namespace {
    let namespace = this.#namespaces.get(context);
    if (namespace === undefined) {
      namespace = resolveNamespace(context, this.#parts.folders);
      this.#namespaces.set(context, namespace);
    }
    return namespace;
  }

  #changes(
    namespace: Namespace,
    leftId: string,
    left: MetaRange,
    rightId: string,
    right: MetaRange,
  ): TreeChanges {
    const differences = this.#differences;
    const keys = differences.get(leftId, rightId);
    if (keys === undefined) {
      const { store } = this.#parts;
      return new TreeDiff({ store, namespace, left, right, differences });
    }
    const lookUp =
      (meta: MetaRange): LookUp =>
      (key) =>
        this.#find(namespace, meta, key, foundValue);
    return new KnownDiff(keys, lookUp(left), lookUp(right));
  }

  /** What `use` takes from a cursor at the record of `key`; it is called at once, before another lookup moves the cursor. */
  #find<Found>(
    namespace: Namespace,
    meta: MetaRange,
    key: Buffer,
    use: (cursor: TableCursor, key: Buffer) => Found,
  ): Found | undefined | Promise<Found | undefined> {
    const range = meta.find(key);
    if (range >= meta.count || meta.compareMin(range, key) > 0) return undefined;
    const known = meta.tables[range];
    if (known !== undefined && !known.isRetired) return known.find(key, use);
    return this.#openAndFind(namespace, meta, range, key, use);
  }

  #openAndFind<Found>(
    namespace: Namespace,
    meta: MetaRange,
    range: number,
    key: Buffer,
    use: (cursor: TableCursor, key: Buffer) => Found,
  ): Found | undefined | Promise<Found | undefined> {
    const findIn = (lease: TableLease): Found | undefined => {
      meta.tables[range] = lease.table;
      try {
        return lease.table.find(key, use);
      } finally {
        lease.release();
      }
    };
    const opened = this.#parts.store.openRange(namespace, meta.id(range));
    return opened instanceof Promise ? opened.then(findIn) : findIn(opened);
  }

  /** Like `#find`; a copy in the cache folder that turns out damaged is replaced by the store's and asked once more. */
  async #findAgain<Found>(
    namespace: Namespace,
    meta: MetaRange,
    key: Buffer,
    use: (cursor: TableCursor, key: Buffer) => Found,
  ): Promise<Found | undefined> {
    try {
      return await this.#find(namespace, meta, key, use);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return await this.#find(namespace, meta, key, use);
    }
  }
}

/** The result of a merge in which two of the three trees are the same. */
function resultWithoutReading({ base, source, destination }: MergeInput): string | undefined {
  if (destination === base) return source;
  return source === base || source === destination ? destination : undefined;
}
