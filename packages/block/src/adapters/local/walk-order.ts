import type { Dirent } from 'node:fs';

const slash = 0x2f;

/** A folder sorts as its name with a `/`, because that is how its files' paths go on: `a-b` before `a/c`. */
export function compareEntries(a: Dirent<Buffer>, b: Dirent<Buffer>): number {
  const shorter = Math.min(a.name.length, b.name.length);
  const order = a.name.compare(b.name, 0, shorter, 0, shorter);
  return order === 0 ? byteAfter(a, shorter) - byteAfter(b, shorter) : order;
}

function byteAfter(entry: Dirent<Buffer>, index: number): number {
  return entry.name[index] ?? (entry.isDirectory() ? slash : -1);
}

/** Whether everything at this path was seen before the walk was interrupted. */
export function isBehind(path: string | Buffer, after: Buffer | undefined, kind: 'file' | 'folder'): boolean {
  if (after === undefined) return false;
  const bytes = typeof path === 'string' ? Buffer.from(path) : path;
  if (kind === 'file') return bytes.compare(after) <= 0;
  return bytes.compare(after.subarray(0, bytes.length)) < 0;
}
