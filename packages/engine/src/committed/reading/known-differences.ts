/** Room for some thousand pairs that differ in a few keys. */
const defaultCapacity = 1024 * 1024;
/** Of one pair; those that differ in more keys are compared again. */
export const maxKnownKeys = 1000;
/** What an entry takes besides the bytes of its keys, roughly: the two ids, and an object for each key. */
const entryWeight = 400;
const keyWeight = 100;

/** The keys, in order, in which two ranges, or two trees, can differ. */
export interface KnownDifference {
  readonly oneId: string;
  readonly otherId: string;
  readonly keys: readonly Buffer[];
}

/** How the processes of one server tell each other what they learned. */
export interface DifferenceNews {
  tell(difference: KnownDifference): void;
  hear(listener: (difference: KnownDifference) => void): void;
}

/**
 * Remembers in which keys two ranges, or two trees, can differ, so that they need not be compared. Of ranges only what a
 * comparison has shown is kept, of trees only what one was made of the other with; both under the content ids of the two.
 * Whoever asks looks the keys up on both sides. Bounded by bytes; the least recently used go first.
 */
export class KnownDifferences {
  readonly #capacity: number;
  readonly #news: DifferenceNews | undefined;
  readonly #pairs = new Map<string, { readonly keys: readonly Buffer[]; readonly weight: number }>();
  #weight = 0;

  constructor(news?: DifferenceNews, capacity = defaultCapacity) {
    this.#capacity = capacity;
    this.#news = news;
    news?.hear((difference) => this.#keep(difference));
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
    const difference = { oneId, otherId, keys };
    if (this.#keep(difference)) this.#news?.tell(difference);
  }

  /** False: it was known, or is too large. */
  #keep({ oneId, otherId, keys }: KnownDifference): boolean {
    const name = nameOf(oneId, otherId);
    const weight = keys.reduce((sum, key) => sum + key.length + keyWeight, entryWeight);
    if (keys.length > maxKnownKeys || weight > this.#capacity || this.#pairs.has(name)) return false;
    this.#pairs.set(name, { keys, weight });
    this.#weight += weight;
    for (const [oldest, pair] of this.#pairs) {
      if (this.#weight <= this.#capacity) break;
      this.#pairs.delete(oldest);
      this.#weight -= pair.weight;
    }
    return true;
  }
}

/** Which side is which makes no difference. */
function nameOf(oneId: string, otherId: string): string {
  return oneId < otherId ? `${oneId}${otherId}` : `${otherId}${oneId}`;
}
