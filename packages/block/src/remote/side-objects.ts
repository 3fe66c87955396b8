/**
 * Stores without multipart uploads of their own keep them in objects beside the one that is to come: a marker for
 * the upload, and one object for each part. These names tell a collector what it may sweep.
 */
const markerSuffix = '.multipart';
const partInfix = '.part_';

export function markerKey(key: string): string {
  return `${key}${markerSuffix}`;
}

/** The object's key when the name is that of a marker. */
export function keyOfMarker(name: string): string | undefined {
  return name.endsWith(markerSuffix) ? name.slice(0, -markerSuffix.length) : undefined;
}

export function partPrefix(key: string): string {
  return `${key}${partInfix}`;
}

export function partKey(key: string, partNumber: number): string {
  return `${partPrefix(key)}${String(partNumber).padStart(5, '0')}`;
}

/** The number of a part by its name. */
export function partNumberOf(key: string, name: string): number | undefined {
  const digits = name.slice(partPrefix(key).length);
  return name.startsWith(partPrefix(key)) && /^\d{5}$/.test(digits) ? Number(digits) : undefined;
}
