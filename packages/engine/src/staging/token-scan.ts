import { WireReader } from '@svc/encoding';
import type { KvEntry, KvStore } from '@svc/kv';
import { BegunScans, type BegunScan } from './begun-scans.ts';

/** Entries of the first page at most; pages double from there. */
const firstBatch = 256;
/** The same after a jump, which mostly wants to know what comes next. */
const batchAfterJump = 4;
/** A page that spared so many jumps is worth reading whole. */
const sparedJumps = 3;
/** Scans begun together. */
const jumpsAtOnce = 32;
const noBytes: Buffer = Buffer.alloc(0);

/** Told of every page that is read. */
export type OnStagedPage = (page: readonly KvEntry[]) => void;

/** Which staged changes are read. */
export interface StagedRange {
  readonly from?: Uint8Array | undefined;
  readonly prefix?: Uint8Array | undefined;
  readonly before?: Uint8Array | undefined;
  /** After so many the reader has enough, unless some turn out to be deletions. */
  readonly wanted?: number | undefined;
  readonly onPage?: OnStagedPage | undefined;
  /** Absent where the store is so near that nothing is won by asking ahead. */
  readonly jumps?: JumpsAhead | undefined;
}

/** Foretells where a reader will jump to. */
export interface JumpsAhead {
  /** Probable jumps behind `key`, in order. */
  after(key: Buffer, most: number): Promise<readonly Buffer[]>;
}

/** The staged changes of one token in key order. `next` is synchronous inside a page of the store. */
export class TokenScan {
  readonly #kv: KvStore;
  readonly #token: Buffer;
  readonly #range: StagedRange;
  #batch: number;
  #pages: AsyncIterator<KvEntry[]> | undefined;
  #page: readonly KvEntry[] = [];
  /** The page holds the first stored keys from here on. */
  #pageStart: Uint8Array;
  #at = -1;
  /** Of the jumps to where the page leads itself. */
  #jumpsInPage = 0;
  readonly #begun = new BegunScans();
  #nothingFollows = false;
  #isClosed = false;
  /** Of what follows the page, what comes before this is not wanted. */
  #skipTo: Buffer | undefined;

  constructor(kv: KvStore, token: Buffer, range: StagedRange = {}) {
    this.#kv = kv;
    this.#token = token;
    this.#range = range;
    // One more says whether anything follows.
    this.#batch = Math.min(firstBatch, (range.wanted ?? firstBatch) + 1);
    this.#pageStart = range.from ?? noBytes;
  }

  get key(): Buffer {
    return this.#entry().key;
  }

  /** The stored record, undecoded. */
  get value(): Buffer {
    return this.#entry().value;
  }

  /** Before the first `next`, which need not ask the store again. */
  async isEmpty(): Promise<boolean> {
    return !(await this.#readPage());
  }

  next(): boolean | Promise<boolean> {
    if (this.#at + 1 < this.#page.length) {
      this.#at += 1;
      return true;
    }
    return this.#nothingFollows ? false : this.#nextPage();
  }

  /** The following `next` yields the first key >= `key`. The store is not asked again for what it has told. */
  seek(key: Buffer): void {
    this.#skipTo = undefined;
    if (this.#pages === undefined || Buffer.compare(key, this.#pageStart) < 0) {
      this.#restart(key);
      return;
    }
    this.#at = lowerBound(this.#page, key) - 1;
    if (this.#at + 1 < this.#page.length || this.#nothingFollows) {
      this.#jumpsInPage += 1;
      return;
    }
    // A short page is likely to be the last: the scan may know that already.
    if (this.#page.length < this.#batch) this.#skipTo = key;
    else this.#restart(key);
  }

  close(): void {
    this.#isClosed = true;
    this.#release();
    this.#begun.close();
    this.#nothingFollows = true;
    this.#page = [];
    this.#at = -1;
  }

  #entry(): KvEntry {
    const entry = this.#page[this.#at];
    if (entry === undefined) throw new Error('read outside of a token scan');
    return entry;
  }

  async #nextPage(): Promise<boolean> {
    while (await this.#readPage()) {
      const skipTo = this.#skipTo;
      this.#at = skipTo === undefined ? 0 : lowerBound(this.#page, skipTo);
      this.#skipTo = undefined;
      if (this.#at < this.#page.length) return true;
      if (skipTo !== undefined) this.#restart(skipTo);
    }
    return false;
  }

  /** False when nothing follows; then the page stays as it is. */
  async #readPage(): Promise<boolean> {
    const isFirst = this.#pages === undefined;
    const page = await (this.#pages?.next() ?? this.#firstPage());
    if (page.done === true) {
      this.#nothingFollows = true;
      return false;
    }
    this.#page = page.value;
    this.#jumpsInPage = 0;
    if (!isFirst) this.#pageStart = page.value[0]?.key ?? noBytes;
    this.#range.onPage?.(page.value);
    return true;
  }

  async #firstPage(): Promise<IteratorResult<KvEntry[]>> {
    const from = this.#pageStart;
    const known = this.#begun.take(from);
    const scan = known ?? this.#begin(from);
    this.#pages = scan.pages;
    const { jumps } = this.#range;
    const isJumping = this.#batch === batchAfterJump;
    if (known === undefined && isJumping && jumps !== undefined && this.#begun.isEmpty) {
      // Whoever jumps from folder to folder asks for one after the other: ask for the next ones beside this one. Where it
      // cannot be told which, whoever comes there is told why.
      const ahead = await jumps.after(Buffer.from(from), jumpsAtOnce - 1).catch(() => []);
      if (!this.#isClosed) for (const jump of ahead) this.#begun.add(this.#begin(jump));
    }
    return scan.first;
  }

  #begin(from: Uint8Array): BegunScan {
    const { prefix, before } = this.#range;
    const pages = this.#kv.scan(this.#token, {
      start: from.length > 0 ? from : undefined,
      prefix: prefix !== undefined && prefix.length > 0 ? prefix : undefined,
      before,
      batch: this.#batch,
    });
    const first = pages.next();
    // Whoever waits for it is told of its failure.
    first.catch(() => undefined);
    return { from, pages, first };
  }

  #restart(from: Buffer): void {
    if (this.#pages !== undefined)
      this.#batch = this.#jumpsInPage < sparedJumps ? batchAfterJump : Math.min(firstBatch, this.#batch * 2);
    this.#release();
    this.#pageStart = from;
    this.#page = [];
    this.#at = -1;
    this.#nothingFollows = false;
  }

  #release(): void {
    const pages = this.#pages;
    this.#pages = undefined;
    // Ending a scan frees its resources. Nothing is read any more, so a failure does not matter.
    pages?.return?.().catch(() => undefined);
  }
}

function lowerBound(page: readonly KvEntry[], key: Buffer): number {
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

/** Whether a stored change is a deletion, without decoding the rest of it. */
export function isTombstone(value: Buffer): boolean {
  const reader = new WireReader(value);
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 18) return reader.bytes().length === 0;
    reader.skip(tag & 7);
  }
  return true;
}
