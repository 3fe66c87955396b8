/** Unsigned bytewise order, the order of every key. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return compareSlices(a, 0, a.length, b, 0, b.length);
}

/** Orders `a[aStart..aEnd)` and `b[bStart..bEnd)` without making slices. */
export function compareSlices(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const shorter = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < shorter; i++) {
    const difference = (a[aStart + i] as number) - (b[bStart + i] as number);
    if (difference !== 0) return difference;
  }
  return aEnd - aStart - (bEnd - bStart);
}

export function equalSlices(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) if (a[i] !== b[j]) return false;
  return true;
}

export function commonPrefixLength(a: Uint8Array, b: Uint8Array): number {
  const shorter = Math.min(a.length, b.length);
  let length = 0;
  while (length < shorter && a[length] === b[length]) length++;
  return length;
}

export function startsWithBytes(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && equalSlices(bytes, 0, prefix.length, prefix, 0, prefix.length);
}

/** The smallest key greater than every key that starts with `prefix`; undefined when there is none. */
export function prefixSuccessor(prefix: Uint8Array): Buffer | undefined {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const byte = prefix[i] as number;
    if (byte === 0xff) continue;
    const successor = Buffer.from(prefix.subarray(0, i + 1));
    successor[i] = byte + 1;
    return successor;
  }
  return undefined;
}

/** The smallest key greater than `key`. */
export function keySuccessor(key: Uint8Array): Buffer {
  const successor = Buffer.allocUnsafe(key.length + 1);
  successor.set(key);
  successor[key.length] = 0;
  return successor;
}
