import { WorkBuffer } from '@svc/encoding';
import { entriesEnd } from './block-codec.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { EntryHeader } from './entry-header.ts';
import { StoredBlocks } from './stored-blocks.ts';
import type { TableReader } from './table-reader.ts';

/** Shows the values of a table, block by block, for those who do not ask for keys: putting them together is half of a scan. */
export class ValueScan {
  readonly #reader: TableReader;
  readonly #stored: StoredBlocks;
  readonly #decoded = new WorkBuffer(0);
  readonly #header = new EntryHeader();
  #block = 0;

  constructor(reader: TableReader) {
    this.#reader = reader;
    this.#stored = new StoredBlocks(reader, new WorkBuffer(0), (error) => this.#report(error));
  }

  /** `use` is given each value of the next block, which is good until it returns; false at the table's end. */
  nextBlock(use: (bytes: Buffer, start: number, end: number) => void): boolean {
    if (this.#block >= this.#reader.index.count) return false;
    const length = this.#stored.decode(this.#block, this.#decoded);
    this.#block += 1;
    const { bytes } = this.#decoded;
    try {
      const header = this.#header;
      const end = entriesEnd(bytes, 0, length);
      for (let at = 0; at < end;) {
        const problem = header.read(bytes, at, end);
        if (problem !== undefined) throw new CorruptTableError(problem);
        const start = header.end + header.unshared;
        at = start + header.valueLength;
        use(bytes, start, at);
      }
    } catch (error) {
      throw this.#report(error);
    }
    return true;
  }

  #report(error: unknown): unknown {
    if (!(error instanceof CorruptTableError)) return error;
    return this.#reader.onCorrupt?.(error) ?? error;
  }
}
