import { createHash, type Hash } from 'node:crypto';

/** Takes the hash input of a table in pieces; another thread may do the work. */
export interface RecordHash {
  /**
   * Hashes `buffer[start, end)` and gives back a buffer of the same size to fill next. With a checkpoint the state
   * reached is worth keeping, for a later table that starts with the same records.
   */
  update(buffer: Buffer, start: number, end: number, checkpoint: TableCheckpoint | undefined): Buffer;
  /** Hex, after a last piece; the whole table takes `fileSize` bytes. */
  digest(last: Buffer, fileSize: number): string | Promise<string>;
  /** There will be no digest. */
  discard(): void;
}

/** How far a table is exactly after one of its blocks. */
export interface TableCheckpoint {
  readonly blocks: number;
  readonly count: number;
  readonly rawKeySize: number;
  readonly rawValueSize: number;
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

  discard(): void {}
}
