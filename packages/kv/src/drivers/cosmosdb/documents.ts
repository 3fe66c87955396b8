import { createHash } from 'node:crypto';
import { KvError } from '../../errors.ts';
import type { KvPredicate, KvValue } from '../../store.ts';
import { decode, encode, encodePadded } from './base32hex.ts';

/** A partition key has at most 2 KiB of text. */
const maxPartitionBytes = 1280;
const maxDocumentKeyBytes = 2048;

/** One entry as the container holds it. */
export interface StoredDocument {
  readonly partitionKey: string;
  readonly id: string;
  readonly key: string;
  readonly value: string;
}

/** What a query answers of a document. */
export interface FoundDocument {
  readonly id: string;
  readonly key: string;
  readonly value: string;
  readonly _etag: string;
}

export function documentId(key: Uint8Array): string {
  return encodePadded(createHash('sha256').update(encodePadded(key)).digest());
}

export function storedDocument(partition: string, key: Uint8Array, value: Uint8Array): StoredDocument {
  return { partitionKey: partition, id: documentId(key), key: encode(key), value: encodePadded(value) };
}

export function maxKeyBytes(partition: Uint8Array): number {
  return partition.length > maxPartitionBytes ? 0 : maxDocumentKeyBytes;
}

/** Whether there could be such an entry at all. */
export function isPossible(partition: Uint8Array, key: Uint8Array): boolean {
  return key.length <= maxKeyBytes(partition);
}

export function requireFitting(partition: Uint8Array, key: Uint8Array): void {
  if (isPossible(partition, key)) return;
  throw new KvError(
    'key_too_long',
    `key too long: the partition has ${partition.length} bytes and the key ${key.length}, the cosmosdb store takes ` +
      `${maxPartitionBytes} and ${maxDocumentKeyBytes}; use a shorter name`,
  );
}

/** Holds the version that was read, and the value to write it again unchanged. */
class VersionPredicate {
  readonly etag: string;
  readonly value: string;

  constructor(etag: string, value: string) {
    this.etag = etag;
    this.value = value;
  }
}

export function found(document: Pick<FoundDocument, 'value' | '_etag'>): KvValue {
  const predicate = new VersionPredicate(document._etag, document.value) as unknown as KvPredicate;
  return { value: decode(document.value), predicate };
}

/** The version and its value, or undefined when another kind of driver made the predicate: it can never hold. */
export function versionOf(predicate: KvPredicate): { etag: string; value: string } | undefined {
  return predicate instanceof VersionPredicate ? predicate : undefined;
}
