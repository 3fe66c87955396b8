/** The memory that all bodies being collected in this process share. Its owner decides how much there is. */
export interface BodyMemory {
  /** False when there is not that much left; then nothing is taken. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** The part of the shared memory that one request holds. */
export class HeldMemory {
  readonly #memory: BodyMemory | undefined;
  #bytes = 0;

  constructor(memory: BodyMemory | undefined) {
    this.#memory = memory;
  }

  /** False when there is not that much left. */
  hold(bytes: number): boolean {
    if (this.#memory === undefined) return true;
    if (!this.#memory.take(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  release(): void {
    if (this.#bytes > 0) this.#memory?.release(this.#bytes);
    this.#bytes = 0;
  }
}
