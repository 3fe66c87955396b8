import {
  ownChange,
  ownRecords,
  requireEntry,
  requireGetMany,
  requireKey,
  requireKeyLength,
  requireKeys,
  requirePartition,
} from '../arguments.ts';
import { KvError } from '../errors.ts';
import { scanPages, scanRange, type ScanPage } from '../scan-pages.ts';
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
import { SortedMap } from './mem/sorted-map.ts';

const driverPage = 1000;
/** As the local store, so that tests meet its limit. */
const maxPartitionAndKeyLength = 4024;

/** What the handles of one in-memory store share: the stand-in for the database behind several servers. */
export class MemState {
  readonly partitions = new SortedMap<SortedMap<Buffer>>();
}

/** Handles created with the same state see each other's writes, like servers on one database. */
export function createMemStore(state: MemState = new MemState()): KvStore {
  return new MemStore(state);
}

class MemStore implements KvStore {
  readonly type = 'mem';
  readonly #state: MemState;
  #closed = false;

  constructor(state: MemState) {
    this.#state = state;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    this.#check();
    requireKey(partition, key);
    const stored = this.#state.partitions.get(text(partition))?.get(text(key));
    if (stored === undefined) return undefined;
    return { value: Buffer.from(stored), predicate: valuePredicate(stored) };
  }

  valueAtOnce(partition: Uint8Array, key: Uint8Array): Buffer | undefined {
    this.#check();
    requireKey(partition, key);
    const stored = this.#state.partitions.get(text(partition))?.get(text(key));
    return stored === undefined ? undefined : Buffer.from(stored);
  }

  firstKeyAtOnce(partition: Uint8Array, start: Uint8Array): Buffer | undefined {
    this.#check();
    requireKey(partition, start);
    const [first] = this.#state.partitions.get(text(partition))?.entriesFrom(text(start)).take(1) ?? [];
    return first === undefined ? undefined : Buffer.from(first[0], 'latin1');
  }

  predicateOf(value: Uint8Array): KvPredicate {
    return valuePredicate(Buffer.from(value));
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#check();
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    this.#write(text(partition), text(key), value);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    this.#check();
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    const partitionText = text(partition);
    const keyText = text(key);
    if (!conditionHolds(this.#state.partitions.get(partitionText)?.get(keyText), condition)) return false;
    this.#write(partitionText, keyText, value);
    return true;
  }

  async change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean> {
    this.#check();
    const owned = ownChange(partition, guard, writes, still, (key) => requireFitting(partition, key));
    const partitionText = text(partition);
    const stored = (key: Uint8Array): Buffer | undefined =>
      this.#state.partitions.get(partitionText)?.get(text(key));
    if (!conditionHolds(stored(owned.guard.key), owned.guard.condition)) return false;
    if (owned.still !== undefined && !isEqual(stored(owned.still.key), owned.still.value)) return false;
    for (const write of owned.guarded === undefined ? owned.others : [owned.guarded, ...owned.others]) {
      if (write.type === 'delete') this.#remove(partitionText, text(write.key));
      else if (write.type === 'put' || stored(write.key) === undefined) {
        this.#write(partitionText, text(write.key), write.value);
      }
    }
    return true;
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    requireGetMany(partition, keys);
    return Promise.all(keys.map((key) => this.get(partition, key)));
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    this.#check();
    for (const { key, value } of ownRecords(partition, records, (each) => requireFitting(partition, each))) {
      this.#write(text(partition), text(key), value);
    }
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    this.#check();
    requireKeys(partition, keys);
    for (const key of keys) this.#remove(text(partition), text(key));
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxPartitionAndKeyLength - partition.length;
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    this.#check();
    requireKey(partition, key);
    this.#remove(text(partition), text(key));
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    this.#check();
    requireKey(partition, key);
    const partitionText = text(partition);
    const keyText = text(key);
    if (!conditionHolds(this.#state.partitions.get(partitionText)?.get(keyText), predicate)) return false;
    this.#remove(partitionText, keyText);
    return true;
  }

  async *scan(
    partition: Uint8Array,
    options: KvScanOptions = {},
  ): AsyncGenerator<KvEntry[], void, undefined> {
    requirePartition(partition);
    const partitionText = text(partition);
    yield* scanPages(scanRange(options), options.batch, driverPage, (lower, upper, limit) => {
      this.#check();
      return readPage(this.#state.partitions.get(partitionText), lower, upper, limit);
    });
  }

  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    this.#check();
    const names = [...this.#state.partitions.entriesFrom('')].map(([name]) => name);
    for (const name of names) yield Buffer.from(name, 'latin1');
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #check(): void {
    if (this.#closed) throw new KvError('closed', 'the in-memory key-value store is closed');
  }

  #write(partition: string, key: string, value: Uint8Array): void {
    let entries = this.#state.partitions.get(partition);
    if (entries === undefined) {
      entries = new SortedMap();
      this.#state.partitions.set(partition, entries);
    }
    entries.set(key, Buffer.from(value));
  }

  #remove(partition: string, key: string): void {
    const entries = this.#state.partitions.get(partition);
    entries?.delete(key);
    if (entries?.size === 0) this.#state.partitions.delete(partition);
  }
}

function requireFitting(partition: Uint8Array, key: Uint8Array): void {
  requireKeyLength(partition, key, maxPartitionAndKeyLength, 'mem');
}

function readPage(
  partition: SortedMap<Buffer> | undefined,
  lower: Buffer,
  upper: Buffer | undefined,
  limit: number,
): ScanPage {
  const entries: KvEntry[] = [];
  const end = upper === undefined ? undefined : text(upper);
  for (const [key, value] of partition?.entriesFrom(text(lower)) ?? []) {
    if (end !== undefined && key >= end) break;
    if (entries.length === limit) return { entries, last: false };
    entries.push({ key: Buffer.from(key, 'latin1'), value: Buffer.from(value) });
  }
  return { entries, last: true };
}

/** Latin1 text keeps every byte and its order. */
function text(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
