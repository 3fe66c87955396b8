/** A copy of the first bytes of a buffer that the next read overwrites. */
export function copyOut(source: Uint8Array, size: number): Buffer {
  const copy = Buffer.allocUnsafe(size);
  copy.set(new Uint8Array(source.buffer, source.byteOffset, size));
  return copy;
}
