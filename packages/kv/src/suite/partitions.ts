import { randomUUID } from 'node:crypto';
import type { KvEntry, KvScanOptions, KvStore } from '../store.ts';

/** A partition no other test uses, so that a suite may run on a shared server. */
export function freshPartition(name = 'suite'): Buffer {
  return Buffer.from(`${name}-${randomUUID()}`);
}

export function bytes(text: string): Buffer {
  return Buffer.from(text);
}

/** `key000`, `key001`, … */
export function numbered(prefix: string, count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) => bytes(`${prefix}${String(index).padStart(3, '0')}`));
}

export async function fill(store: KvStore, partition: Buffer, keys: readonly Buffer[]): Promise<void> {
  await Promise.all(keys.map((key) => store.set(partition, key, Buffer.concat([bytes('value of '), key]))));
}

export async function readAll(
  store: KvStore,
  partition: Uint8Array,
  options?: KvScanOptions,
): Promise<KvEntry[]> {
  const entries: KvEntry[] = [];
  for await (const page of store.scan(partition, options)) entries.push(...page);
  return entries;
}

export async function readKeys(
  store: KvStore,
  partition: Uint8Array,
  options?: KvScanOptions,
): Promise<string[]> {
  return (await readAll(store, partition, options)).map((entry) => entry.key.toString());
}
