import { compareBytes, keySuccessor, prefixSuccessor, startsWithBytes } from '@svc/encoding';
import type { ListOptions, RecordIterator } from './tree.ts';

const noBytes: Buffer = Buffer.alloc(0);

/**
 * A page-by-page view of sorted records: within a prefix, after a key, folded at a delimiter. A folded prefix is
 * passed by seeking behind it, not by reading its keys. Works over any sorted run, also one with staging merged in.
 */
export class Listing {
  readonly #records: RecordIterator;
  readonly #prefix: Buffer;
  readonly #delimiter: Buffer;
  #commonPrefix: Buffer | undefined;
  #ended: boolean;

  /** Takes over `records`: `close` closes them. */
  constructor(records: RecordIterator, options: ListOptions) {
    this.#records = records;
    this.#prefix = Buffer.from(options.prefix ?? noBytes);
    this.#delimiter = Buffer.from(options.delimiter ?? noBytes);
    const start = this.#start(Buffer.from(options.after ?? noBytes));
    if (start === undefined) records.close();
    else if (start.length > 0) records.seek(start);
    this.#ended = start === undefined;
  }

  /** The common prefix shown, or undefined when the current item is `records`' record. */
  get commonPrefix(): Buffer | undefined {
    return this.#commonPrefix;
  }

  /** The current item's path: the common prefix or the record's key. */
  get key(): Buffer {
    return this.#commonPrefix ?? this.#records.key;
  }

  get record(): RecordIterator {
    return this.#records;
  }

  next(): boolean | Promise<boolean> {
    if (this.#ended) return false;
    if (this.#commonPrefix !== undefined) {
      const behind = prefixSuccessor(this.#commonPrefix);
      this.#commonPrefix = undefined;
      if (behind === undefined) return this.#end();
      this.#records.seek(behind);
    }
    const more = this.#records.next();
    return more instanceof Promise ? more.then((got) => this.#accept(got)) : this.#accept(more);
  }

  close(): void {
    this.#ended = true;
    this.#records.close();
  }

  #accept(more: boolean): boolean {
    if (!more || !startsWithBytes(this.#records.key, this.#prefix)) return this.#end();
    if (this.#delimiter.length > 0) {
      const { key } = this.#records;
      const at = key.indexOf(this.#delimiter, this.#prefix.length);
      if (at >= 0) this.#commonPrefix = Buffer.from(key.subarray(0, at + this.#delimiter.length));
    }
    return true;
  }

  #end(): false {
    this.#ended = true;
    return false;
  }

  /** Where to begin; undefined when nothing can follow. */
  #start(after: Buffer): Buffer | undefined {
    if (after.length === 0) return this.#prefix;
    if (!startsWithBytes(after, this.#prefix)) {
      return compareBytes(after, this.#prefix) < 0 ? this.#prefix : undefined;
    }
    const at = this.#delimiter.length > 0 ? after.indexOf(this.#delimiter, this.#prefix.length) : -1;
    if (at < 0) return keySuccessor(after);
    // A common prefix is passed whole; inside one, it is shown again while a key from there on lies below it.
    return at + this.#delimiter.length === after.length ? prefixSuccessor(after) : after;
  }
}
