/**
 * The ordered key-value contract. Everything the service keeps besides object data and committed trees lives
 * behind it. Keys, partitions and values are bytes; order is unsigned bytewise; several keys change
 * together only through `change`, which every kind of store can do.
 *
 * Guarantees every driver gives (held by the exported suite):
 * - an acknowledged write is durable (as far as the driver's settings promise) and visible to every later read
 *   from any process: strong consistency, no stale reads;
 * - `setIf` and `deleteIf` are atomic with respect to every other write of that key, `change` with respect to every
 *   other write of its guarded key;
 * - buffers given by the caller are never kept and buffers returned are the caller's to keep;
 * - partition and key must be non-empty, a value may be empty;
 * - a scan is not a snapshot: concurrent changes may or may not be seen, but no entry appears twice, out of
 *   order, or from another partition.
 */
export interface KvStore {
  /** Driver name as configured: `local`, `postgres`, `dynamodb`, `mem`, … */
  readonly type: string;
  /** The value and the predicate that proves it unchanged later, or undefined when absent. */
  get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined>;
  /** The value `get` would answer, without a promise. Only drivers that never wait for a read have it. */
  valueAtOnce?(partition: Uint8Array, key: Uint8Array): Buffer | undefined;
  /** The first key from `start` on, without a promise; whoever has `valueAtOnce` has it. */
  firstKeyAtOnce?(partition: Uint8Array, start: Uint8Array): Buffer | undefined;
  /** The predicate of an entry that holds this value. Only drivers that save a round trip by comparing values have it. */
  predicateOf?(value: Uint8Array): KvPredicate;
  /** Upsert; the last writer wins. */
  set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void>;
  /**
   * As `set`, then the `get` of another entry, which begins when the write is durable; both in one round trip. Only
   * drivers that save one have it.
   */
  setThenGet?(write: KvPut, partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined>;
  /** Writes only when `condition` holds; false means it did not and nothing was written. */
  setIf(partition: Uint8Array, key: Uint8Array, value: Uint8Array, condition: KvCondition): Promise<boolean>;
  /** Idempotent, also for unknown partitions. */
  delete(partition: Uint8Array, key: Uint8Array): Promise<void>;
  /** Deletes only while the value is the one `predicate` came from; false means it was not. */
  deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean>;
  /**
   * Several writes of one partition as one step. While the guard holds all of them happen, in one flush; otherwise the
   * answer is false and nothing happens, also after a crash. 1 to 99 writes, no key twice, keys and values of 1 MiB
   * together; a key guarded as `absent` is put. `still` makes the answer false as well when its key holds anything
   * else; it is looked at between the call and the commit, and not held against later writers of that key.
   */
  change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean>;
  /** At most 100 entries, in the order asked; each as a `get` begun after the call. */
  getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]>;
  /** Upserts, fast and idempotent, but not one step: after a failure some are written. */
  setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void>;
  /** As `setMany`, for deletions. */
  deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void>;
  /** The longest key that can be written to the partition; a longer one is `key_too_long`. */
  maxKeyBytes(partition: Uint8Array): number;
  /**
   * Entries of one partition with key >= `start` (or with `prefix`), in byte order, in pages. Pages are fetched
   * lazily: the first holds min(batch, driver page) entries, each further one doubles up to the driver page.
   * Never yields an empty page. Leaving the loop early releases everything.
   */
  scan(partition: Uint8Array, options?: KvScanOptions): AsyncIterableIterator<KvEntry[]>;
  /** Every partition that holds at least one entry, in byte order (dumps and operators' tools). */
  partitions(): AsyncIterableIterator<Buffer>;
  /** Connections to a database server that serve a call right now; absent where there is no such server. */
  readonly connectionsInUse?: () => number;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Told what a driver has to say besides its answers. */
export interface KvObserver {
  /** Read and write units that one call cost, where the service counts them. */
  readonly consumedCapacity?: (operation: string, units: number) => void;
  /** The service asked to slow down; the call is repeated. */
  readonly slowDown?: (operation: string) => void;
  /** A periodic look at the table, with what was wrong. */
  readonly healthCheck?: (error: Error | undefined) => void;
}

/** What a caller hands over to be stored. */
export interface KvRecord {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** An entry to be written, wherever it belongs. */
export interface KvPut extends KvRecord {
  readonly partition: Uint8Array;
}

export interface KvEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

export interface KvValue {
  readonly value: Buffer;
  readonly predicate: KvPredicate;
}

declare const predicateBrand: unique symbol;
/** Opaque proof of "unchanged since that get"; only the driver that made it looks inside. */
export interface KvPredicate {
  readonly [predicateBrand]: true;
}

/** `absent`: only when there is no entry; `present`: only when there is one; else only when unchanged. */
export type KvCondition = 'absent' | 'present' | KvPredicate;

/** What must hold of one key for a `change` to happen. `any` always does. */
export interface KvGuard {
  readonly key: Uint8Array;
  readonly condition: KvCondition | 'any';
}

/** One write of a `change`. `create` is left out when the key is there already; deleting nothing is no failure. */
export type KvWrite =
  | { readonly type: 'put' | 'create'; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly key: Uint8Array };

/** A key and the value it is expected to hold; undefined when it should not be there. */
export interface KvExpectation {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

export interface KvScanOptions {
  /** First key, inclusive. */
  readonly start?: Uint8Array | undefined;
  /** Like `start` but exclusive; wins over a smaller `start`. */
  readonly after?: Uint8Array | undefined;
  /** Ends the scan at the first key without it; starts at max(start, prefix). */
  readonly prefix?: Uint8Array | undefined;
  /** Ends the scan at the first key that is not smaller. */
  readonly before?: Uint8Array | undefined;
  /** Size of the first page. */
  readonly batch?: number | undefined;
}
