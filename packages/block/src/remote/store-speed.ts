/** What one connection of a store nearby gives with ease: then more of them only cost more. */
const fastBytesPerMs = 150_000;
/** Too little says nothing. */
const leastBytes = 4 * 1024 * 1024;
/** How much of what was seen before still counts beside the next answer. */
const kept = 0.7;

/** How fast a single connection gives what its reader waits for. */
export class StoreSpeed {
  #bytes = 0;
  #ms = 0;

  /** So many bytes came while their reader waited so long for them. */
  observe(bytes: number, waitedMs: number): void {
    this.#bytes = this.#bytes * kept + bytes;
    this.#ms = this.#ms * kept + waitedMs;
  }

  get isSlow(): boolean {
    return this.#bytes >= leastBytes && this.#bytes < this.#ms * fastBytesPerMs;
  }
}
