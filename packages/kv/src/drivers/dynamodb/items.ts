import { KvError } from '../../errors.ts';
import type { KvPredicate } from '../../store.ts';

const maxPartitionBytes = 2048;
const maxSortKeyBytes = 1024;
/** An item has at most 400 KiB, names and keys included. */
export const maxInlineBytes = 396 * 1024;

export interface Binary {
  readonly B: string;
}

/** Both parts of a primary key. */
export interface Address {
  readonly PartitionKey: Binary;
  readonly ItemKey: Binary;
}

/** A value as an item holds it: itself, or the name and the number of the parts it was cut into. */
export interface StoredValue {
  readonly ItemValue: Binary;
  readonly ItemParts?: { readonly N: string };
}

export type Item = Address & StoredValue;

export function binary(bytes: Uint8Array): Binary {
  return { B: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
}

export function bytesOf({ B }: Binary): Buffer {
  return Buffer.from(B, 'base64');
}

export function address(partition: Uint8Array, key: Uint8Array): Address {
  return { PartitionKey: binary(partition), ItemKey: binary(key) };
}

export function maxKeyBytes(partition: Uint8Array): number {
  return partition.length > maxPartitionBytes ? 0 : maxSortKeyBytes;
}

/** Whether the service could hold such an entry at all; asking it for another is an error there. */
export function isPossible(partition: Uint8Array, key: Uint8Array): boolean {
  return key.length <= maxKeyBytes(partition);
}

export function requireFitting(partition: Uint8Array, key: Uint8Array): void {
  if (isPossible(partition, key)) return;
  throw new KvError(
    'key_too_long',
    `key too long: the partition has ${partition.length} bytes and the key ${key.length}, the dynamodb store takes ` +
      `${maxPartitionBytes} and ${maxSortKeyBytes}; use a shorter name`,
  );
}

/** Holds what the item held: the value, or the name of its parts, which is never used again. */
class ItemPredicate {
  readonly stored: StoredValue;

  constructor(stored: StoredValue) {
    this.stored = stored;
  }
}

export function itemPredicate({ ItemValue, ItemParts }: StoredValue): KvPredicate {
  const stored = ItemParts === undefined ? { ItemValue } : { ItemValue, ItemParts };
  return new ItemPredicate(stored) as unknown as KvPredicate;
}

/** What the item must still hold, or undefined when another kind of driver made the predicate: it can never hold. */
export function predicateItem(predicate: KvPredicate): StoredValue | undefined {
  return predicate instanceof ItemPredicate ? predicate.stored : undefined;
}
