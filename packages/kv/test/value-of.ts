import { createHash } from 'node:crypto';

/** A value that only this key has, so that a torn or misplaced one shows. */
export function valueOf(key: string): Buffer {
  return createHash('sha512').update(key).digest();
}
