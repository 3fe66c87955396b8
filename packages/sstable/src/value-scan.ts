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
  #end = 0;

  constructor(reader: TableReader) {
    this.#reader = reader;
    this.#stored = new StoredBlocks(reader, new WorkBuffer(0), (error) => this.#report(error));
  }

  /** The entries of the block that `next` decoded, from 0 to `entriesEnd`. */
  get bytes(): Buffer {
    return this.#decoded.bytes;
  }

  get entriesEnd(): number {
    return this.#end;
  }

  /** Decodes the next block; false at the table's end. */
  next(): boolean {
    if (this.#block >= this.#reader.index.count) return false;
    const length = this.#stored.decode(this.#block, this.#decoded);
    this.#block += 1;
    try {
      this.#end = entriesEnd(this.#decoded.bytes, 0, length);
    } catch (error) {
      throw this.#report(error);
    }
    return true;
  }

  /** `use` is given each value of the block, which is good until it returns. */
  visit(use: (bytes: Buffer, start: number, end: number) => void): void {
    const { bytes } = this.#decoded;
    const end = this.#end;
    try {
      const header = this.#header;
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
  }

  /** Both in one; false at the table's end. */
  nextBlock(use: (bytes: Buffer, start: number, end: number) => void): boolean {
    if (!this.next()) return false;
    this.visit(use);
    return true;
  }

  #report(error: unknown): unknown {
    if (!(error instanceof CorruptTableError)) return error;
    return this.#reader.onCorrupt?.(error) ?? error;
  }
}
