/** Of one pair; those that differ in more keys are compared again. */
export const maxKnownKeys = 1000;
/** What an entry takes besides the bytes of its keys, roughly: the two ids, and an object for each key. */
const entryWeight = 400;
const keyWeight = 100;

/**
 * Remembers in which keys two ranges, or two trees, can differ, so that they need not be compared. Of ranges only what a
 * comparison has shown is kept, of trees only what one was made of the other with; both under the content ids of the two.
 * Whoever asks looks the keys up on both sides. Bounded by bytes; the least recently used go first.
 */
export class KnownDifferences {
  readonly #capacity: number;
  readonly #pairs = new Map<string, { readonly keys: readonly Buffer[]; readonly weight: number }>();
  #weight = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** In key order; undefined when it is not known. */
  get(oneId: string, otherId: string): readonly Buffer[] | undefined {
    const name = nameOf(oneId, otherId);
    const pair = this.#pairs.get(name);
    if (pair === undefined) return undefined;
    this.#pairs.delete(name);
    this.#pairs.set(name, pair);
    return pair.keys;
  }

  set(oneId: string, otherId: string, keys: readonly Buffer[]): void {
    const name = nameOf(oneId, otherId);
    const weight = keys.reduce((sum, key) => sum + key.length + keyWeight, entryWeight);
    if (keys.length > maxKnownKeys || weight > this.#capacity || this.#pairs.has(name)) return;
    this.#pairs.set(name, { keys, weight });
    this.#weight += weight;
    for (const [oldest, pair] of this.#pairs) {
      if (this.#weight <= this.#capacity) return;
      this.#pairs.delete(oldest);
      this.#weight -= pair.weight;
    }
  }
}

/** Which side is which makes no difference. */
function nameOf(oneId: string, otherId: string): string {
  return oneId < otherId ? `${oneId}${otherId}` : `${otherId}${oneId}`;
}
