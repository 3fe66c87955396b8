import type { StringMap } from '@svc/encoding';

const classKey = '::svc::storage-class';
/** What an object has about whose class nothing is kept. */
export const standardClass = 'STANDARD';

/** A storage class as it is kept with an entry. */
export function storageClassMap(storageClass: string): StringMap {
  const map = Object.create(null) as Record<string, string>;
  map[classKey] = storageClass;
  return map;
}

export function storageClassOf(metadata: StringMap): string {
  const value = metadata[classKey];
  return value !== undefined && isStorageClass(classKey, value) ? value : standardClass;
}

/** Whether a reserved key and its value are a storage class. */
export function isStorageClass(key: string, value: string): boolean {
  return key === classKey && /^[A-Z_]{1,64}$/.test(value);
}
