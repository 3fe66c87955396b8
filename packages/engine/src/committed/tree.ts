import type { CommittedContext } from './context.ts';

/** One record of a tree. `identity` decides equality; `data` is the serialised entry, copied verbatim. */
export interface TreeRecord {
  readonly key: Buffer;
  readonly identity: Buffer;
  readonly data: Buffer;
}

/**
 * A sorted run of records. `next()` is synchronous inside a block and returns a promise only when a block has to
 * be loaded, so that hot loops pay no promise per record: `const more = it.next(); if (more instanceof Promise) …`.
 * Fields are valid until the following `next()`; copy what is kept.
 */
export interface RecordIterator {
  next(): boolean | Promise<boolean>;
  readonly key: Buffer;
  readonly identity: Buffer;
  readonly data: Buffer;
  /** The current record as places in shared buffers, so that long loops make no slices; undefined where there are none. */
  readonly place?: RecordPlace | undefined;
  /** Positions so that the following `next()` yields the first record with key >= `key`; forwards or backwards. */
  seek(key: Uint8Array): void;
  close(): void;
}

/** Where key and data of a record lie; valid until its iterator moves. */
export interface RecordPlace {
  readonly keyBytes: Buffer;
  /** The key is the first so many of them. */
  readonly keyLength: number;
  readonly dataBytes: Buffer;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/** Staged changes in key order: like records, but `identity` empty means the key was removed. */
export type ChangeIterator = RecordIterator;

export type DiffType = 'added' | 'removed' | 'changed' | 'conflict';

/** The record shown is the right side's, for `removed` the left side's. */
export interface DiffIterator extends RecordIterator {
  readonly type: DiffType;
}

/** The stored values of the three sides, where they have one; valid until the following `next()`. */
export interface MergeSides {
  readonly base: Buffer | undefined;
  readonly source: Buffer | undefined;
  readonly destination: Buffer | undefined;
}

export interface MergeDiffIterator extends DiffIterator {
  readonly sides: MergeSides;
}

export type MergeStrategy = 'none' | 'dest-wins' | 'source-wins';

/** What a conflict is settled with: a side's record or its absence, nothing at all, or an object made for it. */
export type Take = 'source' | 'destination' | 'base' | 'delete' | 'object';

export type TakeCounts = Readonly<Record<Take, number>>;

/** Settles the conflicts of all paths that match; `fail` leaves them unresolved whatever the strategy. */
export interface PatternResolution {
  readonly kind: 'prefix' | 'glob';
  readonly pattern: string;
  readonly take: Exclude<Take, 'object'> | 'fail';
}

export interface ApplyResult {
  readonly metaRangeId: string;
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

export interface MergeInput {
  readonly base: string;
  readonly source: string;
  readonly destination: string;
  readonly strategy: MergeStrategy;
  /** Settle conflicts before the strategy does, the first that matches. Given whenever there are resolutions at all. */
  readonly patterns?: readonly PatternResolution[] | undefined;
}

export type MergeResult =
  | {
      readonly kind: 'merged';
      readonly metaRangeId: string;
      /** Conflicts settled by resolutions; only when there were some. */
      readonly resolved?: TakeCounts | undefined;
    }
  /** Nothing settles a conflict, or a resolution is for no conflict that there is (`unfit`). */
  | { readonly kind: 'conflict' | 'unfit'; readonly key: Buffer };

/** What an import replaces in the destination. */
export interface ImportScope {
  /** Prefixes ending in `/` (or empty for everything) whose old keys go. */
  readonly prefixes: readonly Buffer[];
  /** Exact keys that go. */
  readonly keys: readonly Buffer[];
}

/** User properties hashed into ids and stored in the tables of dumps. */
export interface DumpProperties {
  readonly entity: string;
  readonly schemaName: string;
  readonly schemaDefinition: string;
}

/** What a stored metarange says of its tree. */
export interface TreeOutline {
  /** What a dump holds (`commit`, `branch`, `tag`); undefined for objects. */
  readonly entity: string | undefined;
  readonly ranges: readonly RangeSpan[];
}

export interface RangeSpan {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
}

export interface TableDescription {
  /** As in `TreeOutline`. */
  readonly entity: string | undefined;
}

/** A table of a tree. */
export interface TreeRange {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  /** Records. */
  readonly count: number;
}

/** `bytes[start, end)` holds identity and data; good until it returns. */
export type UseValue = (bytes: Buffer, start: number, end: number) => void;

/**
 * Committed trees of one repository's namespace: content-addressed, immutable, `""` is the empty tree.
 * Operations over more than a few thousand entries run off the event loop.
 */
export interface CommittedTrees {
  get(context: CommittedContext, metaRangeId: string, key: Buffer): Promise<TreeRecord | undefined>;
  /** Like `get`, without a promise: null when the block store has to be asked first (then call `get`). */
  getAtOnce(context: CommittedContext, metaRangeId: string, key: Buffer): TreeRecord | undefined | null;
  /** From `from` on. Ranges that begin at or behind `to` are not opened; records there may still be shown. */
  iterate(context: CommittedContext, metaRangeId: string, from?: Uint8Array, to?: Uint8Array): RecordIterator;
  /** Applies sorted changes; `removed` of missing keys and equal identities are no changes. */
  apply(context: CommittedContext, baseId: string, changes: ChangeIterator): Promise<ApplyResult>;
  diff(context: CommittedContext, leftId: string, rightId: string, from?: Uint8Array): DiffIterator;
  /** The changes that merging `source` into `destination` would make, with conflicts. */
  mergeDiff(
    context: CommittedContext,
    input: Omit<MergeInput, 'strategy'>,
    from?: Uint8Array,
  ): MergeDiffIterator;
  /** Writes the merged tree. `whileStoring` is told its id before it is stored, unless another thread writes it. */
  merge(
    context: CommittedContext,
    input: MergeInput,
    whileStoring?: (metaRangeId: string) => void,
  ): Promise<MergeResult>;
  /**
   * Like `merge`, with resolutions of single paths: records in key order whose identity `packTake` makes and whose data is
   * the stored value of an object.
   */
  mergeResolved(
    context: CommittedContext,
    input: MergeInput & { readonly patterns: readonly PatternResolution[] },
    exact: RecordIterator,
  ): Promise<MergeResult>;
  /** `destination` without everything in `scope`, plus the whole tree `imported`. */
  mergeImport(
    context: CommittedContext,
    destinationId: string,
    importedId: string,
    scope: ImportScope,
  ): Promise<string>;
  /** Writes sorted records as a new tree, splitting ranges as configured. */
  write(
    context: CommittedContext,
    records: RecordIterator,
    dump?: DumpProperties,
  ): Promise<{ metaRangeId: string; count: number }>;
  /** Asks the block store, never the cache; undefined when it has no metarange of that id. */
  outline(context: CommittedContext, metaRangeId: string): Promise<TreeOutline | undefined>;
  /** What a stored table says of itself, whatever kind it is; undefined when there is no table of that id. */
  describe(context: CommittedContext, id: string): Promise<TableDescription | undefined>;
  /** In key order. */
  ranges(context: CommittedContext, metaRangeId: string): Promise<readonly TreeRange[]>;
  /** Shows every value of a range; pauses now and then. */
  visitRange(
    context: CommittedContext,
    rangeId: string,
    use: UseValue,
    pause?: () => Promise<void>,
  ): Promise<void>;
  /** Hands the file of a range to `use`. One that is not in the cache goes to `spare` for as long: nothing is evicted. */
  withRangeFile?<Result>(
    context: CommittedContext,
    rangeId: string,
    spare: string,
    use: (path: string) => Promise<Result>,
  ): Promise<Result>;
  /** Whether the block store has every table of a tree; those of `baseId` are known to be there. */
  areStored(context: CommittedContext, metaRangeId: string, baseId: string): Promise<boolean>;
  close(): Promise<void>;
}
