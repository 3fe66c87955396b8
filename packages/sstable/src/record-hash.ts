import { createHash, type Hash } from 'node:crypto';

/** Takes the hash input of a table in pieces; another thread may do the work. */
export interface RecordHash {
  /** Hashes `buffer[start, end)` and gives back a buffer of the same size to fill next. */
  update(buffer: Buffer, start: number, end: number): Buffer;
  /** Hex, after a last piece. */
  digest(last: Buffer): string | Promise<string>;
}

export class LocalRecordHash implements RecordHash {
  readonly #hash: Hash = createHash('sha256');

  update(buffer: Buffer, start: number, end: number): Buffer {
    this.#hash.update(buffer.subarray(start, end));
    return buffer;
  }

  digest(last: Buffer): string {
    return this.#hash.update(last).digest('hex');
  }
}
