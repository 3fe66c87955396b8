import { KvError } from './errors.ts';
import type { KvExpectation, KvGuard, KvRecord, KvWrite } from './store.ts';

const maxWrites = 99;
const maxChangeBytes = 1024 * 1024;
const maxGetMany = 100;

/** Callers reach the store from untyped borders too, so null and undefined are refused like empty. */
export function requirePartition(partition: Uint8Array | null | undefined): void {
  if (partition === null || partition === undefined || partition.length === 0) {
    throw new KvError('missing_partition_key', 'missing partition key');
  }
}

export function requireKey(
  partition: Uint8Array | null | undefined,
  key: Uint8Array | null | undefined,
): void {
  requirePartition(partition);
  if (key === null || key === undefined || key.length === 0) throw new KvError('missing_key', 'missing key');
}

export function requireEntry(
  partition: Uint8Array | null | undefined,
  key: Uint8Array | null | undefined,
  value: Uint8Array | null | undefined,
): void {
  requireKey(partition, key);
  if (value === null || value === undefined) throw new KvError('missing_value', 'missing value');
}

/** `limit` is what partition and key may have together. */
export function requireKeyLength(
  partition: Uint8Array,
  key: Uint8Array,
  limit: number,
  storeName: string,
): void {
  if (partition.length + key.length <= limit) return;
  throw new KvError(
    'key_too_long',
    `key too long: partition and key have ${partition.length + key.length} bytes, the ${storeName} store takes ${limit}; ` +
      'use a shorter name',
  );
}

/** A `change` with buffers of its own, the guarded key's write set apart. */
export interface OwnedChange {
  readonly partition: Buffer;
  readonly guard: { readonly key: Buffer; readonly condition: KvGuard['condition'] };
  /** The write of the guarded key, when there is one. */
  readonly guarded: OwnedWrite | undefined;
  /** All other writes, by key. */
  readonly others: readonly OwnedWrite[];
  readonly still: { readonly key: Buffer; readonly value: Buffer | undefined } | undefined;
}

export type OwnedWrite =
  | { readonly type: 'put' | 'create'; readonly key: Buffer; readonly value: Buffer }
  | { readonly type: 'delete'; readonly key: Buffer };

/** Refuses what the contract does not allow, before anything is written. */
export function requireChange(
  partition: Uint8Array,
  guard: KvGuard,
  writes: readonly KvWrite[],
  still: KvExpectation | undefined,
  checkLength: (key: Uint8Array) => void,
): void {
  requireKey(partition, guard.key);
  if (still !== undefined) requireKey(partition, still.key);
  if (writes.length === 0 || writes.length > maxWrites) {
    throw invalidChange(`it has ${writes.length} writes, one change takes 1 to ${maxWrites}`);
  }
  let bytes = 0;
  let guarded: KvWrite | undefined;
  for (const write of writes) {
    if (write.type === 'delete') requireKey(partition, write.key);
    else {
      requireEntry(partition, write.key, write.value);
      checkLength(write.key);
    }
    bytes += write.key.length + (write.type === 'delete' ? 0 : write.value.length);
    if (Buffer.compare(write.key, guard.key) === 0) guarded = write;
  }
  if (bytes > maxChangeBytes) {
    throw invalidChange(`its keys and values have ${bytes} bytes, one change takes ${maxChangeBytes}`);
  }
  requireDistinct(writes);
  if (guard.condition === 'absent' && (guarded === undefined || guarded.type === 'delete')) {
    throw invalidChange('a key guarded as absent must be put');
  }
}

/** There are a handful of writes as a rule, of which comparing all pairs costs less than sorting. */
function requireDistinct(writes: readonly KvWrite[]): void {
  for (const [index, { key }] of writes.entries()) {
    for (let earlier = 0; earlier < index; earlier += 1) {
      const other = writes[earlier];
      if (other !== undefined && other.key.length === key.length && Buffer.compare(other.key, key) === 0) {
        throw invalidChange(`it writes the key ${Buffer.from(key).toString('latin1')} twice`);
      }
    }
  }
}

/** A change that is allowed, copied out of the caller's hands. */
export function ownChange(
  partition: Uint8Array,
  guard: KvGuard,
  writes: readonly KvWrite[],
  still: KvExpectation | undefined,
  checkLength: (key: Uint8Array) => void,
): OwnedChange {
  requireChange(partition, guard, writes, still, checkLength);
  const guardKey = Buffer.from(guard.key);
  const owned = writes.map(ownWrite).toSorted((a, b) => Buffer.compare(a.key, b.key));
  const guarded = owned.find((write) => write.key.equals(guardKey));
  return {
    partition: Buffer.from(partition),
    guard: { key: guardKey, condition: guard.condition },
    guarded,
    others: guarded === undefined ? owned : owned.filter((write) => write !== guarded),
    still:
      still === undefined
        ? undefined
        : {
            key: Buffer.from(still.key),
            value: still.value === undefined ? undefined : Buffer.from(still.value),
          },
  };
}

function ownWrite(write: KvWrite): OwnedWrite {
  if (write.type === 'delete') return { type: 'delete', key: Buffer.from(write.key) };
  return { type: write.type, key: Buffer.from(write.key), value: Buffer.from(write.value) };
}

function invalidChange(reason: string): KvError {
  return new KvError('invalid_change', `change refused: ${reason}`);
}

export function requireKeys(partition: Uint8Array, keys: readonly Uint8Array[]): void {
  requirePartition(partition);
  for (const key of keys) requireKey(partition, key);
}

export function requireGetMany(partition: Uint8Array, keys: readonly Uint8Array[]): void {
  if (keys.length > maxGetMany) {
    throw new KvError(
      'invalid_change',
      `${keys.length} keys asked for at once, one call takes ${maxGetMany}`,
    );
  }
  requireKeys(partition, keys);
}

/** The records with buffers of their own; of those with one key the last. */
export function ownRecords(
  partition: Uint8Array,
  records: readonly KvRecord[],
  checkLength: (key: Uint8Array) => void,
): { readonly key: Buffer; readonly value: Buffer }[] {
  requirePartition(partition);
  const byKey = new Map<string, { key: Buffer; value: Buffer }>();
  for (const record of records) {
    requireEntry(partition, record.key, record.value);
    checkLength(record.key);
    const key = Buffer.from(record.key);
    byKey.set(key.toString('latin1'), { key, value: Buffer.from(record.value) });
  }
  return [...byKey.values()].toSorted((a, b) => Buffer.compare(a.key, b.key));
}
