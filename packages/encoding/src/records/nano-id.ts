import { randomBytes } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-';
const idPattern = /^[A-Za-z0-9_-]{20}$/;

/** Twenty random characters of `[A-Za-z0-9_-]`. */
export function nanoId(): string {
  let id = '';
  for (const byte of randomBytes(20)) id += alphabet[byte & 63] ?? '';
  return id;
}

/** Whether `id` is `prefix` followed by twenty id characters. */
export function isTaskId(id: string, prefix: string): boolean {
  return id.startsWith(prefix) && idPattern.test(id.slice(prefix.length));
}
