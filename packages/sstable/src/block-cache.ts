const slabSize = 256 * 1024;

/** One allocation for some sixty blocks of any tables. Its bytes are used again once it is evicted, unless it is pinned. */
export interface Slab {
  readonly bytes: Buffer;
  length: number;
  /** How many stand in it. */
  pins: number;
  /** Whose blocks lie in it, and which of theirs. */
  readonly owners: CachedBlocks[];
  readonly numbers: number[];
}

let nextId = 0;

/** Where the decoded blocks of one table lie in memory; no object for each. */
export class CachedBlocks {
  /** The slab of each block, undefined when the block is not in memory. */
  readonly slabs: (Slab | undefined)[];
  readonly starts: Uint32Array;
  readonly lengths: Uint32Array;
  /** 1 when the block was asked for again since it was stored. */
  readonly used: Uint8Array;
  /** Of the first block; the others count on from it. */
  readonly firstId: number;

  constructor(count: number) {
    this.slabs = Array.from({ length: count }, () => undefined);
    this.starts = new Uint32Array(count);
    this.lengths = new Uint32Array(count);
    this.used = new Uint8Array(count);
    this.firstId = nextId;
    nextId = (nextId + count) >>> 0;
  }

  /** Bytes held besides the blocks themselves. */
  get weight(): number {
    return this.used.length * 17;
  }
}

/** What was seen among the last so many, roughly: each takes the place of another. */
class RecentIds {
  readonly #ids = new Uint32Array(65_536).fill(0xffffffff);

  /** True when `id` was seen not long ago; it is seen now. */
  again(id: number): boolean {
    const place = Math.imul(id, 0x9e3779b1) >>> 16;
    if (this.#ids[place] === id >>> 0) return true;
    this.#ids[place] = id;
    return false;
  }
}

/**
 * Decoded blocks of all tables, bounded by bytes. The oldest slab goes first, and those of its blocks that were used
 * again move to the newest (second chance). A scan that passes once therefore pushes out little but itself.
 */
export class BlockCache {
  readonly #capacity: number;
  #reserved = 0;
  #size = 0;
  #slabs: Slab[] = [];
  /** Of an evicted slab. Fresh memory for each would make the collector run several times a second. */
  #spare: Buffer | undefined;
  readonly #asked = new RecentIds();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes of slabs and of reservations. */
  get size(): number {
    return this.#size + this.#reserved;
  }

  /** Bytes of reservations. */
  get reserved(): number {
    return this.#reserved;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Counts bytes held elsewhere (the indexes of open tables) against the capacity; negative gives them back. */
  reserve(bytes: number): void {
    this.#reserved += bytes;
    this.#evict();
  }

  /**
   * Copies `source[start, start + length)` in as block `number` of `owner`. When another has to go for it, only if it
   * was asked for before, not long ago: lookups all over a tree much larger than the cache would push out each other.
   */
  add(owner: CachedBlocks, number: number, source: Buffer, start: number, length: number): void {
    if (this.size + slabSize > this.#capacity && !this.#asked.again(owner.firstId + number)) return;
    this.#place(owner, number, source, start, length);
    this.#evict();
  }

  /** Forgets the blocks of a table that was closed. */
  drop(owner: CachedBlocks): void {
    owner.slabs.length = 0;
  }

  #place(owner: CachedBlocks, number: number, source: Buffer, start: number, length: number): void {
    let slab = this.#slabs.at(-1);
    if (slab === undefined || slab.length + length > slab.bytes.length) {
      const bytes = this.#bytesFor(length);
      slab = { bytes, length: 0, pins: 0, owners: [], numbers: [] };
      this.#slabs.push(slab);
      this.#size += bytes.length;
    }
    source.copy(slab.bytes, slab.length, start, start + length);
    slab.owners.push(owner);
    slab.numbers.push(number);
    owner.slabs[number] = slab;
    owner.starts[number] = slab.length;
    owner.lengths[number] = length;
    owner.used[number] = 0;
    slab.length += length;
  }

  #bytesFor(length: number): Buffer {
    const spare = this.#spare;
    if (spare === undefined || spare.length < length)
      return Buffer.allocUnsafeSlow(Math.max(slabSize, length));
    this.#spare = undefined;
    return spare;
  }

  #evict(): void {
    // The newest slab always stays: it holds the block being handed out.
    while (this.size > this.#capacity && this.#slabs.length > 1) {
      const oldest = this.#slabs.shift() as Slab;
      this.#size -= oldest.bytes.length;
      for (let i = 0; i < oldest.owners.length; i++) {
        const owner = oldest.owners[i] as CachedBlocks;
        const number = oldest.numbers[i] as number;
        if (owner.slabs[number] !== oldest) continue;
        if (owner.used[number] === 0) {
          owner.slabs[number] = undefined;
        } else {
          const start = owner.starts[number] as number;
          this.#place(owner, number, oldest.bytes, start, owner.lengths[number] as number);
        }
      }
      if (oldest.pins === 0 && oldest.bytes.length === slabSize) this.#spare = oldest.bytes;
    }
  }
}
