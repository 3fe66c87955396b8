/** Smaller buffers are cheap to allocate. */
const smallest = 4096;

/**
 * Reuses the buffers of bodies that were sent: only a full garbage collection would free them. They are kept by
 * powers of two, so that a small body does not occupy a large buffer.
 */
export class SpareBodies {
  readonly #bySize = new Map<number, Buffer[]>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** A buffer of at least `length` bytes; its content is undefined. */
  readonly take = (length: number): Buffer => {
    const size = sizeFor(length);
    const spare = this.#bySize.get(size)?.pop();
    if (spare === undefined) return Buffer.allocUnsafeSlow(size);
    this.#bytes -= size;
    return spare;
  };

  /** Takes back what `take` gave, by any part of it. It must not be read any more. */
  give(part: Buffer): void {
    const { buffer } = part;
    const size = buffer.byteLength;
    if (this.#bytes + size > this.#maxBytes) return;
    const spares = this.#bySize.get(size) ?? [];
    this.#bySize.set(size, spares);
    spares.push(Buffer.from(buffer));
    this.#bytes += size;
  }
}

function sizeFor(length: number): number {
  return length <= smallest ? smallest : 2 ** (32 - Math.clz32(length - 1));
}
