import { WireReader } from '@svc/encoding';
import type { KvEntry, KvStore } from '@svc/kv';

/** Entries of the first page at most; pages double from there. */
const firstBatch = 256;
const noBytes: Buffer = Buffer.alloc(0);

/** Told of every page that is read. */
export type OnStagedPage = (page: readonly KvEntry[]) => void;

/** Which staged changes are read. */
export interface StagedRange {
  readonly from?: Uint8Array | undefined;
  readonly prefix?: Uint8Array | undefined;
  /** After so many the reader has enough, unless some turn out to be deletions. */
  readonly wanted?: number | undefined;
  readonly onPage?: OnStagedPage | undefined;
}

/** The staged changes of one token in key order. `next` is synchronous inside a page of the store. */
export class TokenScan {
  readonly #kv: KvStore;
  readonly #token: Buffer;
  readonly #range: StagedRange;
  #start: Uint8Array;
  #pages: AsyncIterator<KvEntry[]> | undefined;
  #page: readonly KvEntry[] = [];
  #at = -1;
  #ended = false;

  constructor(kv: KvStore, token: Buffer, range: StagedRange = {}) {
    this.#kv = kv;
    this.#token = token;
    this.#range = range;
    this.#start = range.from ?? noBytes;
  }

  get key(): Buffer {
    return this.#entry().key;
  }

  /** The stored record, undecoded. */
  get value(): Buffer {
    return this.#entry().value;
  }

  next(): boolean | Promise<boolean> {
    if (this.#at + 1 < this.#page.length) {
      this.#at += 1;
      return true;
    }
    return this.#ended ? false : this.#nextPage();
  }

  /** The following `next` yields the first key >= `key`; only forwards inside what was read. */
  seek(key: Buffer): void {
    const last = this.#page.at(-1);
    if (last !== undefined && Buffer.compare(key, last.key) <= 0 && this.#covers(key)) {
      this.#at = lowerBound(this.#page, key) - 1;
      return;
    }
    this.#release();
    this.#start = key;
    this.#page = [];
    this.#at = -1;
    this.#ended = false;
  }

  close(): void {
    this.#release();
    this.#ended = true;
    this.#page = [];
    this.#at = -1;
  }

  /** Whether the page holds the first stored key >= `key`. */
  #covers(key: Buffer): boolean {
    const first = this.#page[0];
    return first !== undefined && Buffer.compare(first.key, key) <= 0;
  }

  #entry(): KvEntry {
    const entry = this.#page[this.#at];
    if (entry === undefined) throw new Error('read outside of a token scan');
    return entry;
  }

  async #nextPage(): Promise<boolean> {
    const { prefix, wanted = firstBatch, onPage } = this.#range;
    this.#pages ??= this.#kv.scan(this.#token, {
      start: this.#start.length > 0 ? this.#start : undefined,
      prefix: prefix !== undefined && prefix.length > 0 ? prefix : undefined,
      // One more says whether anything follows.
      batch: Math.min(firstBatch, wanted + 1),
    });
    const page = await this.#pages.next();
    if (page.done === true) {
      this.#ended = true;
      this.#page = [];
      this.#at = -1;
      return false;
    }
    this.#page = page.value;
    this.#at = 0;
    onPage?.(page.value);
    return true;
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
