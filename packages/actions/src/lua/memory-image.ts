/** A gap this long is the unused part of the stack, or was never in use: nothing a fresh interpreter holds is as large. */
const gapBytes = 64 * 1024;

interface Piece {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The memory of a WebAssembly module at one moment, without long gaps of zeros. */
export class MemoryImage {
  readonly #pieces: readonly Piece[];

  constructor(memory: Uint8Array) {
    this.#pieces = [...usedSpans(memory)].map(([at, end]) => ({ at, bytes: memory.slice(at, end) }));
  }

  /** Overwrites what was in use at that moment. What has come into use since is free again, and its bytes are garbage. */
  restore(memory: Uint8Array): void {
    for (const { at, bytes } of this.#pieces) memory.set(bytes, at);
  }
}

function* usedSpans(memory: Uint8Array): Generator<readonly [at: number, end: number]> {
  let at = 0;
  let last = -1;
  for (const [index, byte] of new BigUint64Array(memory.buffer).entries()) {
    if (byte === 0n) continue;
    const place = index * 8;
    if (last >= 0 && place - last > gapBytes) {
      yield [at, last];
      at = place;
    }
    last = place + 8;
  }
  if (last > 0) yield [at, last];
}
