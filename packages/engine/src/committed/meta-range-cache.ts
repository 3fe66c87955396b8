import type { MetaRange } from './meta-range.ts';

/** Decoded metaranges, bounded by number and bytes, least recently used first. */
export class MetaRangeCache {
  readonly #limit: number;
  readonly #capacity: number;
  readonly #metaRanges = new Map<string, MetaRange>();
  #newest: string | undefined;
  #size = 0;

  constructor(limit: number, capacity: number) {
    this.#limit = limit;
    this.#capacity = capacity;
  }

  get(path: string): MetaRange | undefined {
    const found = this.#metaRanges.get(path);
    if (found === undefined || path === this.#newest) return found;
    this.#metaRanges.delete(path);
    this.#metaRanges.set(path, found);
    this.#newest = path;
    return found;
  }

  set(path: string, metaRange: MetaRange): void {
    if (this.#metaRanges.has(path)) return;
    this.#metaRanges.set(path, metaRange);
    this.#newest = path;
    this.#size += metaRange.weight;
    for (const [oldest, dropped] of this.#metaRanges) {
      if (this.#metaRanges.size <= this.#limit && this.#size <= this.#capacity) return;
      if (oldest === path) return;
      this.#metaRanges.delete(oldest);
      this.#size -= dropped.weight;
    }
  }
}
