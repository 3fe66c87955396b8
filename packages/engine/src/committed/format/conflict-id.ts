import { IdentityHasher } from '@svc/encoding';

export const conflictIdBytes = 16;
const noBytes = new Uint8Array();

/** Names a conflict by its path and the three versions of it, wherever and whenever they meet. */
export function conflictIdOf(
  key: Uint8Array,
  base: Uint8Array = noBytes,
  source: Uint8Array = noBytes,
  destination: Uint8Array = noBytes,
): Buffer {
  const hasher = new IdentityHasher();
  hasher.string('conflict:v1');
  hasher.bytes(key);
  hasher.bytes(base);
  hasher.bytes(source);
  hasher.bytes(destination);
  return hasher.digest().subarray(0, conflictIdBytes);
}
