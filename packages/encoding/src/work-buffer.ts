/** A growable buffer with a view of the same bytes, reused by encoders and decoders instead of allocating per call. */
export class WorkBuffer {
  bytes: Buffer;
  view: DataView;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
    this.view = viewOf(this.bytes);
  }

  /** Makes room for `capacity` bytes; the first `keep` bytes survive. */
  reserve(capacity: number, keep = 0): void {
    if (capacity <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(capacity, this.bytes.length * 2));
    if (keep > 0) this.bytes.copy(grown, 0, 0, keep);
    this.bytes = grown;
    this.view = viewOf(grown);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
