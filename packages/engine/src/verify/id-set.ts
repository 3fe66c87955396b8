const idBytes = 32;
const noteBytes = 8;
const slotBytes = idBytes + noteBytes;
const firstSlots = 1024;

/**
 * Content ids (hex) with eight bytes noted for each, packed: a repository may have millions, and a string each would
 * fill the memory.
 */
export class IdSet {
  #slots = firstSlots;
  #bytes = Buffer.alloc(firstSlots * slotBytes);
  #used = new Uint8Array(firstSlots);
  #size = 0;

  /** The note of `id`; undefined when it is not in the set. */
  get(id: string): Buffer | undefined {
    const key = Buffer.from(id, 'hex');
    const slot = this.#find(key);
    if (this.#used[slot] === 0) return undefined;
    return this.#bytes.subarray(slot * slotBytes + idBytes, (slot + 1) * slotBytes);
  }

  has(id: string): boolean {
    return this.#used[this.#find(Buffer.from(id, 'hex'))] === 1;
  }

  add(id: string, note: Buffer = Buffer.alloc(noteBytes)): void {
    if (2 * this.#size >= this.#slots) this.#grow();
    this.#put(Buffer.from(id, 'hex'), note);
  }

  #put(key: Buffer, note: Buffer): void {
    const slot = this.#find(key);
    if (this.#used[slot] === 0) this.#size++;
    this.#used[slot] = 1;
    key.copy(this.#bytes, slot * slotBytes);
    note.copy(this.#bytes, slot * slotBytes + idBytes, 0, noteBytes);
  }

  /** Where `key` is, or the free slot where it belongs. */
  #find(key: Buffer): number {
    let slot = key.readUInt32LE(0) % this.#slots;
    while (this.#used[slot] === 1) {
      const at = slot * slotBytes;
      if (this.#bytes.compare(key, 0, idBytes, at, at + idBytes) === 0) return slot;
      slot = (slot + 1) % this.#slots;
    }
    return slot;
  }

  #grow(): void {
    const { length } = this.#used;
    const bytes = this.#bytes;
    const used = this.#used;
    this.#slots = 2 * length;
    this.#bytes = Buffer.alloc(this.#slots * slotBytes);
    this.#used = new Uint8Array(this.#slots);
    this.#size = 0;
    for (let slot = 0; slot < length; slot++) {
      if (used[slot] === 0) continue;
      const at = slot * slotBytes;
      this.#put(bytes.subarray(at, at + idBytes), bytes.subarray(at + idBytes, at + slotBytes));
    }
  }
}

/** Whether `id` is one that a set can hold. */
export function isContentId(id: string): boolean {
  return /^[0-9a-f]{64}$/.test(id);
}
