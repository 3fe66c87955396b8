/** What LMDB can hold with pages of 8 KiB: length prefix, partition and key together. */
export const maxPhysicalKeyLength = 4026;

const prefixLength = 2;

/**
 * A key as it lies on disk: u16be(length of partition) ‖ partition ‖ key. The length in front keeps partition `a`
 * with key `b/c` apart from partition `a/b` with key `c`. Written straight into LMDB's own buffers by `keyEncoder`.
 */
export interface PhysicalKey {
  length: number;
  partition: Uint8Array;
  key: Uint8Array;
}

const nothing = new Uint8Array(0);

export function fitsPhysicalKey(partition: Uint8Array, key: Uint8Array): boolean {
  return prefixLength + partition.length + key.length <= maxPhysicalKeyLength;
}

/** What partition and key may have together. */
export const maxPartitionAndKeyLength = maxPhysicalKeyLength - prefixLength;

/** The bound after every key of the partition. */
export function partitionEnd(partition: Uint8Array): PhysicalKey {
  let length = partition.length;
  while (length > 0 && partition[length - 1] === 0xff) length--;
  if (length === 0) return { length: partition.length + 1, partition: nothing, key: nothing };
  const end = Uint8Array.from(partition.subarray(0, length));
  end[length - 1] = (end[length - 1] ?? 0) + 1;
  return { length: partition.length, partition: end, key: nothing };
}

export interface ScanBound {
  readonly bound: PhysicalKey;
  /** A bound longer than any stored key was cut: whether a key equal to what is left is inside changes with it. */
  readonly cut: boolean;
}

export function scanBound(partition: Uint8Array, key: Uint8Array): ScanBound {
  const room = maxPhysicalKeyLength - prefixLength - partition.length;
  const cut = key.length > room;
  return { bound: { length: partition.length, partition, key: cut ? key.subarray(0, room) : key }, cut };
}

export function writePhysicalKey(source: PhysicalKey, target: Uint8Array, start: number): number {
  target[start] = source.length >>> 8;
  target[start + 1] = source.length & 0xff;
  const keyStart = start + prefixLength + source.partition.length;
  target.set(source.partition, start + prefixLength);
  target.set(source.key, keyStart);
  return keyStart + source.key.length;
}

/** Where the caller's key begins in the physical key of an entry of `partition`. */
export function logicalKeyOffset(partition: Uint8Array): number {
  return prefixLength + partition.length;
}

/** For a key that outlives the call: the caller may change its buffers meanwhile. */
export function keptKey(partition: Uint8Array, key: Uint8Array): PhysicalKey {
  return { length: partition.length, partition: Uint8Array.from(partition), key: Uint8Array.from(key) };
}
