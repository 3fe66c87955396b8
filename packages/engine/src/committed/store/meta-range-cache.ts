import type { MetaRange } from '../format/meta-range.ts';

/** Decoded metaranges by folder and id, bounded by number and bytes; the least recently used go first. */
export class MetaRangeCache {
  readonly #limit: number;
  readonly #capacity: number;
  /** Two maps instead of one joined name: the strings at hand carry their hash, a joined one would not. */
  readonly #folders = new Map<string, Map<string, MetaRange>>();
  readonly #byUse = new Map<MetaRange, { folder: string; id: string }>();
  #newest: MetaRange | undefined;
  #size = 0;

  constructor(limit: number, capacity: number) {
    this.#limit = limit;
    this.#capacity = capacity;
  }

  get(folder: string, id: string): MetaRange | undefined {
    const found = this.#folders.get(folder)?.get(id);
    if (found === undefined || found === this.#newest) return found;
    const place = this.#byUse.get(found);
    if (place !== undefined) {
      this.#byUse.delete(found);
      this.#byUse.set(found, place);
    }
    this.#newest = found;
    return found;
  }

  set(folder: string, id: string, metaRange: MetaRange): void {
    let inFolder = this.#folders.get(folder);
    if (inFolder === undefined) {
      inFolder = new Map();
      this.#folders.set(folder, inFolder);
    }
    if (inFolder.has(id)) return;
    inFolder.set(id, metaRange);
    this.#byUse.set(metaRange, { folder, id });
    this.#newest = metaRange;
    this.#size += metaRange.weight;
    for (const [oldest, place] of this.#byUse) {
      const fits = this.#byUse.size <= this.#limit && this.#size <= this.#capacity;
      if (fits || oldest === metaRange) return;
      this.#byUse.delete(oldest);
      this.#size -= oldest.weight;
      const siblings = this.#folders.get(place.folder);
      siblings?.delete(place.id);
      if (siblings?.size === 0) this.#folders.delete(place.folder);
    }
  }
}
