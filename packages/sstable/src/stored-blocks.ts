import type { WorkBuffer } from '@svc/encoding';
import { checkBlock, decodeBlock } from './block-codec.ts';
import { blockTrailerLength } from './table-format.ts';
import type { TableReader } from './table-reader.ts';

const firstReadAhead = 16 * 1024;
const maxReadAhead = 256 * 1024;

/** Blocks of a table as they are stored, in a buffer that reads further ahead the longer it is read in order. */
export class StoredBlocks {
  readonly #reader: TableReader;
  readonly #buffer: WorkBuffer;
  /** Told of damage; answers the error to throw. */
  readonly #report: (error: unknown) => unknown;
  #from = 0;
  #length = 0;
  /** The block in the buffer whose checksum was compared since it was read. */
  #checked = -1;
  #readAhead = firstReadAhead;

  constructor(reader: TableReader, buffer: WorkBuffer, report: (error: unknown) => unknown) {
    this.#reader = reader;
    this.#buffer = buffer;
    this.#report = report;
  }

  get bytes(): Buffer {
    return this.#buffer.bytes;
  }

  /** Where a block that starts at `start` of `bytes` ends, with its trailer. */
  endOf(number: number, start: number): number {
    return start + this.#reader.index.length(number) + blockTrailerLength;
  }

  /** Brings a block into `bytes` and answers where it starts. */
  fetch(number: number): number {
    const { index, source } = this.#reader;
    const offset = index.offset(number);
    const length = index.length(number) + blockTrailerLength;
    if (offset >= this.#from && offset + length <= this.#from + this.#length) return offset - this.#from;
    const sequential = this.#length > 0 && offset > this.#from;
    this.#readAhead = sequential ? Math.min(this.#readAhead * 2, maxReadAhead) : firstReadAhead;
    const wanted = Math.min(Math.max(length, this.#readAhead), source.size - offset);
    this.#length = 0;
    this.#checked = -1;
    this.#buffer.reserve(wanted + 16);
    try {
      source.read(this.#buffer.bytes, 0, wanted, offset);
    } catch (error) {
      throw this.#report(error);
    }
    this.#from = offset;
    this.#length = wanted;
    return 0;
  }

  /** Like `fetch`; compares the block's checksum, unless that was done since it was read. */
  check(number: number): number {
    const start = this.fetch(number);
    if (this.#checked === number) return start;
    try {
      checkBlock(this.#buffer, start, this.#reader.index.length(number));
    } catch (error) {
      throw this.#report(error);
    }
    this.#checked = number;
    return start;
  }

  /** Checks and decodes a block into `target`; answers its length. */
  decode(number: number, target: WorkBuffer): number {
    const start = this.fetch(number);
    try {
      const length = decodeBlock(this.#buffer, start, this.#reader.index.length(number), target);
      this.#checked = number;
      return length;
    } catch (error) {
      throw this.#report(error);
    }
  }
}
