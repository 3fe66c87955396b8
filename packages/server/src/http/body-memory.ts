/** Memory for request bodies that are collected before they are used. What streams through does not count. */
export class BodyMemory {
  readonly #bytes: number;
  #taken = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False when there is not that much left; nothing is taken then. */
  take(bytes: number): boolean {
    if (this.#taken + bytes > this.#bytes) return false;
    this.#taken += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** Room for some of the largest JSON bodies, or for a thousand small uploads, at once. */
const callersBytes = 128 * 1024 * 1024;
/** Apart, so that strangers cannot keep anyone else from being heard. */
const strangersBytes = 16 * 1024 * 1024;

/** What one process has for all its requests. */
export function createBodyMemory(): { readonly callers: BodyMemory; readonly strangers: BodyMemory } {
  return { callers: new BodyMemory(callersBytes), strangers: new BodyMemory(strangersBytes) };
}
