import { timingSafeEqual } from 'node:crypto';

/** Compares two signatures in constant time. */
export function equalSignatures(expected: string, given: string): boolean {
  const a = Buffer.from(expected, 'latin1');
  const b = Buffer.from(given, 'latin1');
  return a.length === b.length && timingSafeEqual(a, b);
}
