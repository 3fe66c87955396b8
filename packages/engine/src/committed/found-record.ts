import { ValueParts } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { TreeRecord } from './tree.ts';

/** The record a lookup found. Its block stays in memory as long as it does; slices are made when asked for. */
export class FoundRecord implements TreeRecord {
  readonly key: Buffer;
  readonly #block: Buffer;
  readonly #parts = new ValueParts();

  /** Takes what it needs of the cursor, which may move on. */
  constructor(cursor: TableCursor) {
    this.key = Buffer.from(cursor.key.subarray(0, cursor.keyLength));
    this.#block = cursor.block;
    this.#parts.read(cursor.block, cursor.valueStart, cursor.valueEnd);
  }

  get identity(): Buffer {
    return this.#block.subarray(this.#parts.identityStart, this.#parts.identityEnd);
  }

  get data(): Buffer {
    return this.#block.subarray(this.#parts.dataStart, this.#parts.dataEnd);
  }
}
