import type { RecordIterator, TreeRecord } from '../committed/tree.ts';

/** Records that come in pages as one sorted run; `next` waits only between pages. */
export class PageRecords implements RecordIterator {
  readonly #pages: AsyncIterator<readonly TreeRecord[]>;
  #page: readonly TreeRecord[] = [];
  #at = -1;

  constructor(pages: AsyncIterable<readonly TreeRecord[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  get key(): Buffer {
    return this.#record().key;
  }

  get identity(): Buffer {
    return this.#record().identity;
  }

  get data(): Buffer {
    return this.#record().data;
  }

  next(): boolean | Promise<boolean> {
    this.#at += 1;
    return this.#at < this.#page.length ? true : this.#nextPage();
  }

  seek(): void {
    throw new Error('records that are read once cannot be sought');
  }

  close(): void {
    // Ending the source frees what it holds. Nothing is read any more, so a failure does not matter.
    this.#pages.return?.().catch(() => undefined);
  }

  async #nextPage(): Promise<boolean> {
    for (;;) {
      const page = await this.#pages.next();
      if (page.done === true) return false;
      if (page.value.length === 0) continue;
      this.#page = page.value;
      this.#at = 0;
      return true;
    }
  }

  #record(): TreeRecord {
    const record = this.#page[this.#at];
    if (record === undefined) throw new Error('read outside of a run of records');
    return record;
  }
}
