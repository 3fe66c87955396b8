import { KvError } from './errors.ts';

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
