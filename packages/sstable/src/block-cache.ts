/** A decoded block in memory. */
export interface CachedBlock {
  readonly body: Buffer;
  readonly owner: BlockOwner;
  readonly number: number;
  /** Asked for again since it was stored. */
  used: boolean;
}

/** A table's slots; the cache empties a slot when it lets the block go. */
export interface BlockOwner {
  readonly blocks: (CachedBlock | undefined)[];
}

const slabSize = 256 * 1024;

interface Slab {
  readonly bytes: Buffer;
  length: number;
  readonly blocks: CachedBlock[];
}

/**
 * Decoded blocks of all tables, bounded by bytes. Blocks live in slabs, so that one allocation serves some sixty of
 * them; the oldest slab goes first, and those of its blocks that were used again move to the newest (second
 * chance). A scan that passes once therefore pushes out little but itself.
 */
export class BlockCache {
  readonly #capacity: number;
  #reserved = 0;
  #size = 0;
  #slabs: Slab[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Bytes of slabs and of reservations. */
  get size(): number {
    return this.#size + this.#reserved;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Counts bytes held elsewhere (the indexes of open tables) against the capacity; negative gives them back. */
  reserve(bytes: number): void {
    this.#reserved += bytes;
    this.#evict();
  }

  /** Copies `source[0, length)` in as block `number` of `owner`. */
  add(owner: BlockOwner, number: number, source: Buffer, length: number): CachedBlock {
    const block = this.#place(owner, number, source, length);
    this.#evict();
    return block;
  }

  /** Forgets the blocks of a table that was closed. */
  drop(owner: BlockOwner): void {
    owner.blocks.length = 0;
  }

  #place(owner: BlockOwner, number: number, source: Buffer, length: number): CachedBlock {
    let slab = this.#slabs.at(-1);
    if (slab === undefined || slab.length + length > slab.bytes.length) {
      slab = { bytes: Buffer.allocUnsafeSlow(Math.max(slabSize, length)), length: 0, blocks: [] };
      this.#slabs.push(slab);
      this.#size += slab.bytes.length;
    }
    source.copy(slab.bytes, slab.length, 0, length);
    const body = slab.bytes.subarray(slab.length, slab.length + length);
    slab.length += length;
    const block: CachedBlock = { body, owner, number, used: false };
    slab.blocks.push(block);
    owner.blocks[number] = block;
    return block;
  }

  #evict(): void {
    // The newest slab always stays: it holds the block being handed out.
    while (this.size > this.#capacity && this.#slabs.length > 1) {
      const oldest = this.#slabs.shift() as Slab;
      this.#size -= oldest.bytes.length;
      for (const block of oldest.blocks) {
        if (block.owner.blocks[block.number] !== block) continue;
        if (block.used) this.#place(block.owner, block.number, block.body, block.body.length);
        else block.owner.blocks[block.number] = undefined;
      }
    }
  }
}
