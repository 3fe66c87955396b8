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
  readonly #oneByte: number | undefined;
  #successor: Buffer = Buffer.alloc(256);
  #commonPrefix: Buffer | undefined;
  #ended: boolean;

  /** Takes over `records`: `close` closes them. */
  constructor(records: RecordIterator, options: ListOptions) {
    this.#records = records;
    this.#prefix = Buffer.from(options.prefix ?? noBytes);
    this.#delimiter = Buffer.from(options.delimiter ?? noBytes);
    this.#oneByte = this.#delimiter.length === 1 ? this.#delimiter[0] : undefined;
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
      const behind = this.#behind(this.#commonPrefix);
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
    if (!more) return this.#end();
    const { key } = this.#records;
    if (!startsWithBytes(key, this.#prefix)) return this.#end();
    if (this.#delimiter.length > 0) {
      // A single byte is found without leaving for native code.
      const at = key.indexOf(this.#oneByte ?? this.#delimiter, this.#prefix.length);
      if (at >= 0) this.#commonPrefix = Buffer.from(key.subarray(0, at + this.#delimiter.length));
    }
    return true;
  }

  /** The smallest key behind all that start with `prefix`, good until the next call; undefined when there is none. */
  #behind(prefix: Buffer): Buffer | undefined {
    const last = prefix[prefix.length - 1];
    if (last === undefined || last === 0xff) return prefixSuccessor(prefix);
    if (this.#successor.length !== prefix.length) this.#successor = Buffer.allocUnsafe(prefix.length);
    this.#successor.set(prefix);
    this.#successor[prefix.length - 1] = last + 1;
    return this.#successor;
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
