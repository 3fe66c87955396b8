const idBytes = 32;
const hexId = /^[0-9a-f]{64}$/;
const firstCapacity = 1024;

/**
 * The commits of a repository as flat arrays, some 50 bytes each: there may be millions. Filled by two readings in id
 * order; what only the second one shows was recorded in between.
 */
export class CommitTable {
  #ids = Buffer.allocUnsafe(firstCapacity * idBytes);
  #createdAt = new Float64Array(firstCapacity);
  #mainParent = new Int32Array(firstCapacity);
  #known = 0;
  #count = 0;
  /** Where the reading in progress stands among the known ones. */
  #at = 0;
  readonly #recent = new Map<string, number>();
  /** Main parents that were not known yet when their children were read. */
  #unresolved: { readonly child: number; readonly parent: string }[] = [];

  /** Commits of the first reading come first, in id order. */
  get count(): number {
    return this.#count;
  }

  /** First reading. */
  addKnown(id: string): void {
    // Any other name counts as recent, so it is never garbage.
    if (!hexId.test(id)) return;
    this.#reserve();
    this.#ids.write(id, this.#known * idBytes, 'hex');
    this.#known += 1;
    this.#count += 1;
  }

  /** Second reading, once the first is over. */
  add(id: string, createdAt: number, mainParent: string | undefined): void {
    let index = this.#nextKnown(id);
    if (index < 0) {
      this.#reserve();
      index = this.#count;
      this.#count += 1;
      this.#recent.set(id, index);
    }
    this.#createdAt[index] = createdAt;
    const parent = mainParent === undefined ? -1 : this.indexOf(mainParent);
    this.#mainParent[index] = parent;
    if (mainParent !== undefined && parent < 0) this.#unresolved.push({ child: index, parent: mainParent });
  }

  /** After the second reading. */
  finish(): void {
    for (const { child, parent } of this.#unresolved) this.#mainParent[child] = this.indexOf(parent);
    this.#unresolved = [];
    this.#at = 0;
  }

  /** Of one that the first reading showed. */
  idOf(index: number): string {
    return this.#ids.toString('hex', index * idBytes, (index + 1) * idBytes);
  }

  createdAt(index: number): number {
    return this.#createdAt[index] ?? 0;
  }

  /** Undefined for a root, and for a parent that is not there. */
  mainParent(index: number): number | undefined {
    const parent = this.#mainParent[index] ?? -1;
    return parent < 0 ? undefined : parent;
  }

  /** Was not there at the first reading. */
  isRecent(index: number): boolean {
    return index >= this.#known;
  }

  /** Where a commit is, or -1. Ids asked for in order cost next to nothing. */
  next(id: string): number {
    const index = this.#nextKnown(id);
    return index < 0 ? (this.#recent.get(id) ?? -1) : index;
  }

  indexOf(id: string): number {
    const wanted = hexId.test(id) ? Buffer.from(id, 'hex') : undefined;
    if (wanted === undefined) return this.#recent.get(id) ?? -1;
    let low = 0;
    let high = this.#known;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, wanted) < 0) low = middle + 1;
      else high = middle;
    }
    if (low < this.#known && this.#compare(low, wanted) === 0) return low;
    return this.#recent.get(id) ?? -1;
  }

  #nextKnown(id: string): number {
    if (!hexId.test(id)) return -1;
    const wanted = Buffer.from(id, 'hex');
    if (this.#at > 0 && this.#compare(this.#at - 1, wanted) >= 0) this.#at = 0;
    while (this.#at < this.#known && this.#compare(this.#at, wanted) < 0) this.#at += 1;
    return this.#at < this.#known && this.#compare(this.#at, wanted) === 0 ? this.#at : -1;
  }

  #compare(index: number, id: Buffer): number {
    const start = index * idBytes;
    return this.#ids.compare(id, 0, idBytes, start, start + idBytes);
  }

  #reserve(): void {
    const capacity = this.#createdAt.length;
    if (this.#count < capacity) return;
    const ids = Buffer.allocUnsafe(2 * capacity * idBytes);
    this.#ids.copy(ids);
    this.#ids = ids;
    const createdAt = new Float64Array(2 * capacity);
    createdAt.set(this.#createdAt);
    this.#createdAt = createdAt;
    const mainParent = new Int32Array(2 * capacity);
    mainParent.set(this.#mainParent);
    this.#mainParent = mainParent;
  }
}
