import { crc32c, VarintReader, writeUvarint } from '@svc/encoding';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The file that says in which keys `newId` differs from `oldId`. */
export function changeListPath(folder: string, oldId: string, newId: string): string {
  return join(folder, `${newId}.${oldId}.changes`);
}

/** A list is only ever a shortcut, so failing to keep one is no failure. */
export function writeChangeList(path: string, temporary: string, keys: readonly Buffer[]): void {
  const room = keys.reduce((sum, key) => sum + key.length + 10, 10);
  const bytes = Buffer.allocUnsafe(room + 4);
  let at = writeUvarint(bytes, 0, keys.length);
  for (const key of keys) {
    at = writeUvarint(bytes, at, key.length);
    key.copy(bytes, at);
    at += key.length;
  }
  bytes.writeUInt32LE(crc32c(bytes.subarray(0, at)), at);
  try {
    writeFileSync(temporary, bytes.subarray(0, at + 4));
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

/** The keys in order, or undefined when no sound list is there. */
export function readChangeList(path: string): Buffer[] | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  const end = bytes.length - 4;
  if (end < 1 || bytes.readUInt32LE(end) !== crc32c(bytes.subarray(0, end))) return undefined;
  const reader = new VarintReader(bytes, 0, end);
  const keys: Buffer[] = [];
  for (let left = reader.uvarint(); left > 0; left--) {
    const length = reader.uvarint();
    keys.push(bytes.subarray(reader.position, reader.position + length));
    reader.position += length;
  }
  return keys;
}
