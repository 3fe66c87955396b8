/**
 * A copy in memory of its own. Small buffers are cut from shared pieces of 64 KiB, so one that is kept for long keeps
 * all of its piece, of which everything else may be long gone.
 */
export function ownBytes(bytes: Uint8Array): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
