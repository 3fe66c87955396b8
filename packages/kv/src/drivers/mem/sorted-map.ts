const chunkLimit = 512;

/**
 * Byte strings as latin1 text (whose order is byte order) mapped to values, in order. Keys live in chunks so that an
 * insert moves a few hundred of them, not all.
 */
export class SortedMap<V> {
  readonly #values = new Map<string, V>();
  #chunks: string[][] = [];

  get size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: V): void {
    const known = this.#values.has(key);
    this.#values.set(key, value);
    if (!known) this.#insert(key);
  }

  delete(key: string): void {
    if (!this.#values.delete(key)) return;
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index] ?? [];
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(index, 1);
  }

  /** Entries with key >= `from`, in order; stop reading before changing the map. */
  *entriesFrom(from: string): Generator<[string, V]> {
    let index = this.#chunkOf(from);
    let chunk = this.#chunks[index];
    let position = chunk === undefined ? 0 : lowerBound(chunk, from);
    while (chunk !== undefined) {
      for (; position < chunk.length; position++) {
        const key = chunk[position] ?? '';
        const value = this.#values.get(key);
        if (value !== undefined) yield [key, value];
      }
      index++;
      position = 0;
      chunk = this.#chunks[index];
    }
  }

  /** The last chunk whose first key is <= `key`, or the first chunk. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#chunks[middle]?.[0] ?? '') <= key) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  #insert(key: string): void {
    const index = this.#chunkOf(key);
    const chunk = this.#chunks[index];
    if (chunk === undefined) {
      this.#chunks.push([key]);
      return;
    }
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > chunkLimit) this.#chunks.splice(index + 1, 0, chunk.splice(chunkLimit / 2));
  }
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((keys[middle] ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
