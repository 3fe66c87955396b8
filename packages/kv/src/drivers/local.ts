import { ownBytes } from '@svc/encoding';
import {
  ownChange,
  ownRecords,
  requireChange,
  requireEntry,
  requireGetMany,
  requireKey,
  requireKeyLength,
  requireKeys,
  requirePartition,
} from '../arguments.ts';
import { KvError } from '../errors.ts';
import { scanPages, scanRange } from '../scan-pages.ts';
import type {
  KvCondition,
  KvEntry,
  KvExpectation,
  KvGuard,
  KvPredicate,
  KvRecord,
  KvScanOptions,
  KvStore,
  KvValue,
  KvWrite,
} from '../store.ts';
import { conditionHolds, isEqual, valuePredicate } from '../value-predicate.ts';
import { diskError } from './local/disk-errors.ts';
import { copyOut } from './local/copy-out.ts';
import { dependsOnAbsenceOnly } from './local/depends-on-absence-only.ts';
import { DiskSpace } from './local/disk-space.ts';
import { prepareFolder } from './local/folder.ts';
import { openLmdb, type Commit, type LmdbDatabase } from './local/lmdb.ts';
import { openGate, type OpeningGate } from './local/opening-gate.ts';
import { PageArena } from './local/page-arena.ts';
import {
  fitsPhysicalKey,
  keptKey,
  maxPartitionAndKeyLength,
  partitionEnd,
  type PhysicalKey,
} from './local/physical-key.ts';
import { firstKeyFrom, firstKeyOf, readPage } from './local/reads.ts';
import { SharedSnapshot } from './local/shared-snapshot.ts';
import { openChecked } from './local/store-file.ts';

const driverPage = 1000;
const bulkBatch = 1000;
const typicalEntryBytes = 192;
const nothing = new Uint8Array(0);

export interface LocalStoreOptions {
  readonly path: string;
  readonly syncWrites: boolean;
}

/**
 * Opens the store beside any other process of this machine that has it open. A server calls `lockLocalStore` first,
 * once, in its main process.
 */
export async function openLocalStore(options: LocalStoreOptions): Promise<KvStore> {
  await prepareFolder(options.path);
  const space = new DiskSpace(options.path);
  await space.look();
  let gate: OpeningGate | undefined;
  try {
    gate = await openGate(options.path);
    const { path } = options;
    const db = await gate.whileOpening(() => openChecked(path, () => openLmdb(path)));
    return new LocalStore(db, gate, space, options);
  } catch (error) {
    gate?.close();
    throw diskError('connect_failed', options.path, error);
  }
}

class LocalStore implements KvStore {
  readonly type = 'local';
  readonly #db: LmdbDatabase;
  readonly #gate: OpeningGate;
  readonly #space: DiskSpace;
  readonly #path: string;
  readonly #syncWrites: boolean;
  /** Passed to lmdb, which writes it into its own buffer before the call returns: one object serves every call. */
  readonly #physical: PhysicalKey = { length: 0, partition: nothing, key: nothing };
  readonly #snapshot: SharedSnapshot;
  #closing: Promise<void> | undefined;

  constructor(db: LmdbDatabase, gate: OpeningGate, space: DiskSpace, options: LocalStoreOptions) {
    this.#db = db;
    this.#snapshot = new SharedSnapshot(db);
    this.#gate = gate;
    this.#space = space;
    this.#path = options.path;
    this.#syncWrites = options.syncWrites;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const value = this.valueAtOnce(partition, key);
    return value === undefined ? undefined : { value, predicate: valuePredicate(ownBytes(value)) };
  }

  valueAtOnce(partition: Uint8Array, key: Uint8Array): Buffer | undefined {
    this.#check();
    requireKey(partition, key);
    if (!fitsPhysicalKey(partition, key)) return undefined;
    this.#snapshot.renew();
    const found = this.#db.getBinaryFast(this.#key(partition, key));
    return found === undefined ? undefined : copyOut(found, this.#db.lastSize);
  }

  firstKeyAtOnce(partition: Uint8Array, start: Uint8Array): Buffer | undefined {
    this.#check();
    requireKey(partition, start);
    this.#snapshot.renew();
    return firstKeyOf(this.#db, partition, start);
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#check();
    requireEntry(partition, key, value);
    this.#requireFitting(partition, key);
    this.#space.require();
    const copy = Buffer.from(value);
    await this.#acknowledge(partition, key, (physical) => this.#db.put(physical, copy));
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    this.#check();
    requireEntry(partition, key, value);
    this.#requireFitting(partition, key);
    this.#space.require();
    const copy = Buffer.from(value);
    if (condition === 'absent') {
      return this.#acknowledge(partition, key, (absent) => this.#db.put(absent, copy, { noOverwrite: true }));
    }
    const physical = keptKey(partition, key);
    return this.#change(() => {
      if (!conditionHolds(this.#stored(physical), condition)) return false;
      void this.#db.put(physical, copy);
      return true;
    });
  }

  async change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean> {
    this.#check();
    const checkLength = (key: Uint8Array): void => this.#requireFitting(partition, key);
    requireChange(partition, guard, writes, still, checkLength);
    this.#space.require();
    // lmdb does these by itself, while a look at values makes its writer, and so everybody else's, wait for this thread.
    if (dependsOnAbsenceOnly(guard, writes, still) && this.#gate.tryEnter())
      return this.#writeUnless(
        partition,
        guard.condition === 'absent' ? guard.key : undefined,
        writes,
        still,
      );
    const owned = ownChange(partition, guard, writes, still, checkLength);
    const physical = (key: Uint8Array): PhysicalKey => ({
      length: partition.length,
      partition: owned.partition,
      key,
    });
    const guardKey = physical(owned.guard.key);
    const stillKey = owned.still === undefined ? undefined : physical(owned.still.key);
    const all = owned.guarded === undefined ? owned.others : [owned.guarded, ...owned.others];
    const steps = all.map((write) => ({ write, key: physical(write.key) }));
    return this.#change(() => {
      if (!conditionHolds(this.#stored(guardKey), owned.guard.condition)) return false;
      if (stillKey !== undefined && !isEqual(this.#stored(stillKey), owned.still?.value)) return false;
      for (const { write, key } of steps) {
        if (write.type === 'delete') void this.#db.remove(key);
        else if (write.type === 'put' || this.#stored(key) === undefined) void this.#db.put(key, write.value);
      }
      return true;
    });
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    requireGetMany(partition, keys);
    return Promise.all(keys.map((key) => this.get(partition, key)));
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    this.#check();
    const owned = ownRecords(partition, records, (key) => this.#requireFitting(partition, key));
    this.#space.require();
    const owner = Uint8Array.from(partition);
    await this.#inBatches(owned, ({ key, value }) => this.#db.put(this.#key(owner, key), value));
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    this.#check();
    requireKeys(partition, keys);
    const owner = Uint8Array.from(partition);
    const owned = keys.filter((key) => fitsPhysicalKey(partition, key)).map((key) => Uint8Array.from(key));
    await this.#inBatches(owned, (key) => this.#db.remove(this.#key(owner, key)));
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxPartitionAndKeyLength - partition.length;
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    this.#check();
    requireKey(partition, key);
    if (!fitsPhysicalKey(partition, key)) return;
    await this.#acknowledge(partition, key, (physical) => this.#db.remove(physical));
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    this.#check();
    requireKey(partition, key);
    if (!fitsPhysicalKey(partition, key)) return false;
    const physical = keptKey(partition, key);
    return this.#change(() => {
      if (!conditionHolds(this.#stored(physical), predicate)) return false;
      void this.#db.remove(physical);
      return true;
    });
  }

  async *scan(
    partition: Uint8Array,
    options: KvScanOptions = {},
  ): AsyncGenerator<KvEntry[], void, undefined> {
    requirePartition(partition);
    const owned = Uint8Array.from(partition);
    if (!fitsPhysicalKey(owned, nothing)) return;
    let expectedEntryBytes = typicalEntryBytes;
    yield* scanPages(scanRange(options), options.batch, driverPage, (lower, upper, limit) => {
      this.#check();
      const arena = new PageArena(expectedEntryBytes * limit);
      this.#snapshot.renew();
      const page = readPage(this.#db, arena, owned, { lower, upper, limit });
      if (page.entries.length > 0) expectedEntryBytes = Math.ceil(arena.bytes / page.entries.length) + 8;
      return page;
    });
  }

  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    let start: PhysicalKey = { length: 0, partition: nothing, key: nothing };
    const found: Buffer[] = [];
    for (;;) {
      this.#check();
      this.#snapshot.renew();
      const physical = firstKeyFrom(this.#db, start);
      if (physical === undefined) break;
      const partition = physical.subarray(2, 2 + physical.readUInt16BE(0));
      found.push(partition);
      start = partitionEnd(partition);
    }
    // Stored by length first; names are few.
    yield* found.toSorted((a, b) => Buffer.compare(a, b));
  }

  close(): Promise<void> {
    this.#closing ??= this.#db.close().then(() => this.#gate.close());
    return this.#closing;
  }

  #check(): void {
    if (this.#closing !== undefined) throw new KvError('closed', `key-value store ${this.#path} is closed`);
  }

  #requireFitting(partition: Uint8Array, key: Uint8Array): void {
    requireKeyLength(partition, key, maxPartitionAndKeyLength, 'local');
  }

  #key(partition: Uint8Array, key: Uint8Array): PhysicalKey {
    const physical = this.#physical;
    physical.length = partition.length;
    physical.partition = partition;
    physical.key = key;
    return physical;
  }

  /** The value as the transaction sees it, valid until the next read. */
  #stored(physical: PhysicalKey): Uint8Array | undefined {
    const found = this.#db.getBinaryFast(physical);
    return found === undefined
      ? undefined
      : new Uint8Array(found.buffer, found.byteOffset, this.#db.lastSize);
  }

  /** All in one step, unless one of two keys is there. lmdb takes the keys before it returns, so only values are copied. */
  async #writeUnless(
    partition: Uint8Array,
    guarded: Uint8Array | undefined,
    writes: readonly KvWrite[],
    still: KvExpectation | undefined,
  ): Promise<boolean> {
    const writeAll = (): void => {
      for (const write of writes) {
        const key = this.#key(partition, write.key);
        if (write.type === 'delete') void this.#db.remove(key);
        else void this.#db.put(key, Buffer.from(write.value));
      }
    };
    const first = guarded ?? still?.key;
    const second = guarded === undefined ? undefined : still?.key;
    let inner: Commit | undefined;
    const written = this.#settleEntered(() => {
      if (first === undefined) return this.#db.batch(writeAll);
      if (second === undefined) return this.#db.ifNoExists(this.#key(partition, first), writeAll);
      return this.#db.ifNoExists(this.#key(partition, first), () => {
        inner = this.#db.ifNoExists(this.#key(partition, second), writeAll);
        // It fails when all does, and that is heard of already.
        inner.catch(() => undefined);
      });
    });
    // Inside a step that does not happen lmdb calls a condition that would hold fulfilled.
    return (await written) && (inner === undefined || (await inner));
  }

  async #acknowledge(
    partition: Uint8Array,
    key: Uint8Array,
    write: (physical: PhysicalKey) => Commit,
  ): Promise<boolean> {
    let physical = this.#key(partition, key);
    if (!this.#gate.tryEnter()) {
      physical = keptKey(partition, key);
      await this.#gate.enter();
    }
    return this.#settleEntered(() => write(physical));
  }

  async #settleEntered(begin: () => Commit): Promise<boolean> {
    try {
      this.#check();
      const commit = begin();
      // Taken before anything is awaited: it belongs to this very commit.
      const { flushed } = commit;
      const written = await commit;
      if (written && this.#syncWrites) await flushed;
      return written;
    } catch (error) {
      throw await this.#writeError(error);
    } finally {
      this.#gate.leave();
    }
  }

  async #change(action: () => boolean): Promise<boolean> {
    if (!this.#gate.tryEnter()) await this.#gate.enter();
    try {
      this.#check();
      const result = this.#db.transaction(action);
      const flushed = this.#syncWrites ? this.#db.flushed.then(() => undefined) : undefined;
      const written = await result;
      if (written) await flushed;
      return written;
    } catch (error) {
      throw await this.#writeError(error);
    } finally {
      this.#gate.leave();
    }
  }

  /** Each batch is one commit and one flush. */
  async #inBatches<T>(items: readonly T[], write: (item: T) => Commit): Promise<void> {
    for (let start = 0; start < items.length; start += bulkBatch) {
      if (!this.#gate.tryEnter()) await this.#gate.enter();
      try {
        this.#check();
        const commits = items.slice(start, start + bulkBatch).map(write);
        const flushed = commits.at(-1)?.flushed;
        await Promise.all(commits);
        if (this.#syncWrites) await flushed;
      } catch (error) {
        throw await this.#writeError(error);
      } finally {
        this.#gate.leave();
      }
    }
  }

  /** lmdb hides the reason of a failed commit behind a promise that rejects with it. */
  async #writeError(failure: unknown): Promise<KvError> {
    const { commitError } = failure as { commitError?: Promise<unknown> };
    const reason: unknown = (await Promise.resolve(commitError).catch((error: unknown) => error)) ?? failure;
    // On a full disk it may fail in the words of a broken one.
    const full = failure instanceof KvError ? undefined : await this.#space.whenFull();
    return full ?? diskError('unavailable', this.#path, reason);
  }
}
