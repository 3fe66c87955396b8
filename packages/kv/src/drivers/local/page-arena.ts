const firstBlock = 4096;
const largestBlock = 256 * 1024;
const noBlock: Buffer = Buffer.alloc(0);

/**
 * Memory for the keys and values of one page: they are copied out of the database into a few blocks and handed out
 * as slices, instead of one allocation each. A page owns its blocks, so what a caller keeps pins that page only.
 */
export class PageArena {
  /** Taken with the first copy: many pages turn out to be empty. */
  #block = noBlock;
  #used = 0;
  #nextSize: number;
  bytes = 0;

  /** `expected` is a guess of what the page will need; a wrong one costs a further block. */
  constructor(expected: number) {
    this.#nextSize = Math.min(Math.max(expected, firstBlock), largestBlock);
  }

  /** Copies `source[start, end)` and returns the slice that now holds it. */
  copy(source: Uint8Array, start: number, end: number): Buffer {
    const length = end - start;
    if (this.#used + length > this.#block.length) this.#grow(length);
    const from = this.#used;
    const to = from + length;
    this.#block.set(new Uint8Array(source.buffer, source.byteOffset + start, length), from);
    this.#used = to;
    this.bytes += length;
    return this.#block.subarray(from, to);
  }

  #grow(length: number): void {
    this.#block = Buffer.allocUnsafeSlow(Math.max(this.#nextSize, length));
    this.#used = 0;
    this.#nextSize = Math.min(this.#nextSize * 2, largestBlock);
  }
}
