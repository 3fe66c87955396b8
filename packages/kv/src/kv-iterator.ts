import { requirePartition } from './arguments.ts';
import { KvError } from './errors.ts';
import type { KvEntry, KvScanOptions, KvStore } from './store.ts';

/**
 * A cursor over one partition (or the keys with `prefix`) that can jump. A jump inside the page at hand costs
 * nothing; any other starts a new scan.
 *
 * ```ts
 * const entries = new KvIterator(store, partition, { prefix });
 * while (await entries.next()) use(entries.entry);
 * await entries.close();
 * ```
 */
export class KvIterator {
  readonly #store: KvStore;
  readonly #partition: Buffer;
  readonly #prefix: Uint8Array | undefined;
  readonly #batch: number | undefined;
  #pages: AsyncIterator<KvEntry[]> | undefined;
  /** Where the pages in hand began: nothing is missing between it and the first entry of `#page`. */
  #pageStart: Uint8Array | undefined;
  #page: readonly KvEntry[] = [];
  /** Index of the entry the next `next` delivers. */
  #position = 0;
  #exhausted = false;
  #entry: KvEntry | undefined;
  #closed = false;

  constructor(store: KvStore, partition: Uint8Array, options: KvScanOptions = {}) {
    requirePartition(partition);
    this.#store = store;
    this.#partition = Buffer.from(partition);
    this.#prefix = options.prefix;
    this.#batch = options.batch;
    this.#pages = store.scan(this.#partition, options);
  }

  /** Moves to the next entry; false at the end and after `close`. */
  async next(): Promise<boolean> {
    this.#entry = undefined;
    if (this.#closed) return false;
    while (this.#position >= this.#page.length) {
      if (this.#exhausted || this.#pages === undefined) return false;
      const result = await this.#pages.next();
      if (result.done === true) {
        // The last page stays in hand, so that jumping back into it is free.
        this.#exhausted = true;
        return false;
      }
      // A jump has set the start of its first page itself: between it and the first entry there is nothing.
      if (this.#pageStart === undefined || this.#page.length > 0) this.#pageStart = result.value[0]?.key;
      this.#page = result.value;
      this.#position = 0;
    }
    this.#entry = this.#page[this.#position++];
    return true;
  }

  /** The entry the last successful `next` moved to. */
  get entry(): KvEntry {
    if (this.#entry === undefined) throw this.error ?? new Error('no entry: call next first');
    return this.#entry;
  }

  /** Set after `close`. */
  get error(): KvError | undefined {
    return this.#closed ? new KvError('closed', 'closed entries') : undefined;
  }

  /** The next `next` delivers the first entry with key >= `key`, before or behind the current one. */
  async seekGE(key: Uint8Array): Promise<void> {
    this.#entry = undefined;
    if (this.#closed) return;
    if (this.#holds(key)) {
      this.#position = lowerBound(this.#page, key);
      return;
    }
    await this.#pages?.return?.();
    this.#page = [];
    this.#position = 0;
    this.#exhausted = false;
    this.#pageStart = Buffer.from(key);
    this.#pages = this.#store.scan(this.#partition, {
      start: this.#pageStart,
      prefix: this.#prefix,
      batch: this.#batch,
    });
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#entry = undefined;
    this.#page = [];
    await this.#pages?.return?.();
  }

  #holds(key: Uint8Array): boolean {
    if (this.#pageStart === undefined || Buffer.compare(key, this.#pageStart) < 0) return false;
    const last = this.#page.at(-1);
    if (last === undefined) return this.#exhausted;
    return this.#exhausted || Buffer.compare(key, last.key) <= 0;
  }
}

function lowerBound(page: readonly KvEntry[], key: Uint8Array): number {
  let low = 0;
  let high = page.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = page[middle];
    if (entry !== undefined && Buffer.compare(entry.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
