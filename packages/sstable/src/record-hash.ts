import { createHash, type Hash } from 'node:crypto';

/** Takes the hash input of a table in pieces; another thread may do the work. */
export interface RecordHash {
  /**
   * Hashes `input`, which may be reused after the call. With a checkpoint the state reached is worth keeping, for a
   * later table that starts with the same records.
   */
  update(input: Buffer, checkpoint: TableCheckpoint | undefined): void;
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

  update(input: Buffer): void {
    this.#hash.update(input);
  }

  digest(last: Buffer): string {
    return this.#hash.update(last).digest('hex');
  }

  discard(): void {}
}
