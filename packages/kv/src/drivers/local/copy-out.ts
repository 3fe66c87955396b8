/** A copy of the first bytes of a buffer that the next read overwrites. */
export function copyOut(source: Uint8Array, size: number): Buffer {
  const copy = Buffer.allocUnsafe(size);
  copy.set(new Uint8Array(source.buffer, source.byteOffset, size));
  return copy;
}

/** For what is kept for long: small buffers share pieces of 64 KiB, and one of them keeps all of its piece. */
export function ownCopy(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
