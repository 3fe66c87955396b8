import type { DiffIterator, DiffType, MergeDiffIterator, MergeSides } from '../tree.ts';

/** A diff whose trees are loaded at the first step. */
export class LazyDiff<Loaded extends DiffIterator = DiffIterator> implements DiffIterator {
  readonly #load: () => Promise<Loaded>;
  #diff: Loaded | undefined;
  #from: Buffer | undefined;
  #closed = false;

  constructor(load: () => Promise<Loaded>, from?: Uint8Array) {
    this.#load = load;
    if (from !== undefined) this.#from = Buffer.from(from);
  }

  get type(): DiffType {
    return this.current().type;
  }

  get key(): Buffer {
    return this.current().key;
  }

  get identity(): Buffer {
    return this.current().identity;
  }

  get data(): Buffer {
    return this.current().data;
  }

  next(): boolean | Promise<boolean> {
    return this.#diff === undefined ? this.#first() : this.#diff.next();
  }

  seek(key: Uint8Array): void {
    if (this.#diff === undefined) this.#from = Buffer.from(key);
    else this.#diff.seek(key);
  }

  close(): void {
    this.#closed = true;
    this.#diff?.close();
  }

  async #first(): Promise<boolean> {
    if (this.#closed) throw new Error('the diff was closed');
    this.#diff = await this.#load();
    // Closed while it was loading.
    if (this.#closed) this.#diff.close();
    if (this.#from !== undefined) this.#diff.seek(this.#from);
    return this.#diff.next();
  }

  protected current(): Loaded {
    if (this.#diff === undefined) throw new Error('the diff stands at no record');
    return this.#diff;
  }
}

export class LazyMergeDiff extends LazyDiff<MergeDiffIterator> implements MergeDiffIterator {
  get sides(): MergeSides {
    return this.current().sides;
  }
}
