import type { StringMap } from '@svc/encoding';
import { invalid } from '../context/refusals.ts';
import { isContentMetadata } from './content-metadata.ts';
import { isTag, isTagKey } from './object-tags.ts';
import { isStorageClass } from './storage-class.ts';

/** Metadata of the service itself. Clients can neither set nor see it. */
const reservedPrefix = '::svc::';

/** Response headers that are kept with an object, in the entry's metadata. */
export const storedHeaders = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Expires',
] as const;

export type StoredHeader = (typeof storedHeaders)[number];

const headersByKey: ReadonlyMap<string, StoredHeader> = new Map(
  storedHeaders.map((name) => [storedHeaderKey(name), name]),
);

/** Under which metadata key a response header is kept. */
export function storedHeaderKey(name: StoredHeader): string {
  return reservedPrefix + name;
}

/** The response header kept under a metadata key. No other key ever becomes one, whoever stored it. */
export function storedHeaderOf(key: string): StoredHeader | undefined {
  return headersByKey.get(key);
}

export function isReservedKey(key: string): boolean {
  return key.startsWith(reservedPrefix);
}

/** Whether a text can stand in a header: anything else could end the header and begin another. */
export function isFieldValue(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const code = value.charCodeAt(index);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false;
  }
  return true;
}

/** Refuses what a protocol may not store: unknown reserved keys, and header values that cannot be sent. */
export function checkReserved(metadata: StringMap): void {
  for (const key in metadata) {
    if (!isReservedKey(key)) continue;
    const name = storedHeaderOf(key);
    const value = metadata[key] ?? '';
    if (name === undefined && !isSound(key, value))
      throw invalid(`metadata key '${key}' is reserved`, 'object');
    if (name !== undefined && !isFieldValue(value))
      throw invalid(`the value of ${name} has control characters`, 'object');
  }
}

/** Refuses reserved keys in what a user says about an object. */
export function refuseReserved(metadata: StringMap | undefined): void {
  for (const key in metadata) {
    if (isReservedKey(key))
      throw invalid(
        `metadata key '${key}' is reserved: leave out keys that begin with ${reservedPrefix}`,
        'object',
      );
  }
}

/** A content type becomes a header of every answer with the object. */
export function checkContentType(contentType: string | undefined): void {
  if (contentType !== undefined && !isFieldValue(contentType))
    throw invalid('the content type has control characters', 'object');
}

/** A storage class goes to the store as a header. */
export function checkStorageClass(storageClass: string | undefined): void {
  if (storageClass !== undefined && !/^[!-~]{0,64}$/.test(storageClass))
    throw invalid('the storage class must be a word of at most 64 characters', 'object');
}

/** What users see of an entry's metadata. */
export function userMetadata(metadata: StringMap): StringMap {
  return picked(metadata, (key) => !isReservedKey(key));
}

/** The reserved part of an entry's metadata, as far as we could have stored it ourselves. */
export function reservedMetadata(metadata: StringMap): StringMap {
  return picked(metadata, isSound);
}

/** An entry's metadata without reserved keys that others made up. */
export function soundMetadata(metadata: StringMap): StringMap {
  return picked(metadata, (key, value) => !isReservedKey(key) || isSound(key, value));
}

/** What is said of the bytes of an object: it goes wherever they go. */
export function contentMetadata(metadata: StringMap): StringMap {
  return picked(metadata, isContentMetadata);
}

/** The tags of an object, as stored. */
export function tagMetadata(metadata: StringMap): StringMap {
  return picked(metadata, isTag);
}

export function withoutTags(metadata: StringMap): StringMap {
  return picked(metadata, (key) => !isTagKey(key));
}

export function withoutStorageClass(metadata: StringMap): StringMap {
  return picked(metadata, (key, value) => !isStorageClass(key, value));
}

function isSound(key: string, value: string): boolean {
  if (!isReservedKey(key)) return false;
  if (storedHeaderOf(key) !== undefined) return isFieldValue(value);
  return isContentMetadata(key, value) || isTag(key, value) || isStorageClass(key, value);
}

/** Without a prototype, as every map of metadata. */
export function joinedMaps(...maps: readonly (StringMap | undefined)[]): StringMap {
  return Object.assign(Object.create(null) as Record<string, string>, ...maps) as StringMap;
}

/** The map itself when all of it is wanted, which is the rule. */
function picked(metadata: StringMap, wanted: (key: string, value: string) => boolean): StringMap {
  let unwanted = false;
  for (const key in metadata) unwanted ||= !wanted(key, metadata[key] ?? '');
  if (!unwanted) return metadata;
  const result = Object.create(null) as Record<string, string>;
  for (const key in metadata) {
    const value = metadata[key] ?? '';
    if (wanted(key, value)) result[key] = value;
  }
  return result;
}
