import type { KvEntry, KvScanOptions, KvStore } from './store.ts';

export interface SecondaryIndex {
  /** The partition whose entries point to primary keys. */
  readonly partition: Uint8Array;
  readonly primaryPartition: Uint8Array;
  /** Reads the primary key out of an index entry's value. */
  readonly primaryKey: (indexValue: Buffer) => Uint8Array;
}

export interface SecondaryEntry {
  /** The key in the index. */
  readonly indexKey: Buffer;
  readonly primaryKey: Uint8Array;
  /** The value of the primary entry. */
  readonly value: Buffer;
}

/**
 * Primary entries in the order of a secondary index, page by page. Index entries whose primary entry is gone are
 * skipped; one that points to nothing at all throws `missing_key`.
 */
export async function* scanSecondary(
  store: KvStore,
  index: SecondaryIndex,
  options: KvScanOptions = {},
): AsyncGenerator<SecondaryEntry[], void, undefined> {
  for await (const page of store.scan(index.partition, options)) {
    const found = await Promise.all(page.map((entry) => readPrimary(store, index, entry)));
    const entries = found.filter((entry) => entry !== undefined);
    if (entries.length > 0) yield entries;
  }
}

async function readPrimary(
  store: KvStore,
  index: SecondaryIndex,
  entry: KvEntry,
): Promise<SecondaryEntry | undefined> {
  const primaryKey = index.primaryKey(entry.value);
  const primary = await store.get(index.primaryPartition, primaryKey);
  return primary && { indexKey: entry.key, primaryKey, value: primary.value };
}
