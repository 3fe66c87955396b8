import { hash, timingSafeEqual } from 'node:crypto';

export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares secrets by digest, so that neither content nor length shows in the time taken. */
export function equalsDigest(text: string, digest: Buffer): boolean {
  return timingSafeEqual(sha256(text), digest);
}
