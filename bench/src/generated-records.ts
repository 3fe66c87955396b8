import { encodeEntry, entryIdentity, timestampFromMillis, type Entry } from '@svc/encoding';
import type { RecordIterator } from '@svc/engine';
import { keyOf } from './scenarios/bench.ts';

/** The records of a tree of the benchmark, made on the way: any number of them takes no memory. */
export class GeneratedRecords implements RecordIterator {
  readonly #objects: number;
  readonly #addressOf: (index: number) => string;
  #at = -1;
  key: Buffer = Buffer.alloc(0);
  identity: Buffer = Buffer.alloc(0);
  data: Buffer = Buffer.alloc(0);

  constructor(objects: number, addressOf: (index: number) => string = addressOfTree) {
    this.#objects = objects;
    this.#addressOf = addressOf;
  }

  next(): boolean {
    this.#at += 1;
    if (this.#at >= this.#objects) return false;
    this.key = Buffer.from(keyOf(this.#at));
    const entry: Entry = {
      address: this.#addressOf(this.#at),
      addressType: 1,
      lastModified: timestampFromMillis(1_700_000_000_000),
      size: this.#at,
      etag: this.#at.toString(16).padStart(32, '0'),
      metadata: {},
      contentType: 'application/octet-stream',
    };
    this.identity = entryIdentity(entry);
    this.data = encodeEntry(entry);
    return true;
  }

  seek(): void {
    throw new Error('generated records only go forwards');
  }

  close(): void {
    this.#at = this.#objects;
  }
}

function addressOfTree(index: number): string {
  return `data/gk3f7ctl8q3s73frlr8g/${String(index).padStart(20, '0')}`;
}
