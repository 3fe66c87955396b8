import { maskCrc32c } from './crc32c.ts';
import { SnappyError } from './snappy-error.ts';
import { snappyWasm } from './snappy-wasm.ts';
import { VarintReader } from './varint.ts';
import { instantiateWasm, type WasmMemory } from './wasm.ts';

interface SnappyExports {
  readonly memory: WasmMemory;
  heap(): number;
  encode(source: number, length: number, target: number): number;
  decode(source: number, end: number, target: number, length: number): number;
  crc32c(source: number, length: number): number;
}

const pageSize = 65536;
/** Bytes that may be read and written past an end, so that short runs are copied sixteen at a time. */
const slack = 16;
/** Blocks are a few KiB; memory that grew beyond this for an unusual one is let go again. */
const keptMemory = 4 * 1024 * 1024;

/** Room for the compressed form of `length` bytes. */
export function snappyMaxLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/**
 * The memory of the WebAssembly code. Writing the input to it and reading the output from it saves both copies. An area
 * holds one of each at a time.
 */
export class SnappyArea {
  /** Another one after `reserve`, `encode` and `decode`; earlier ones are not to be used any more. */
  bytes: Buffer;
  /** Where the input belongs. */
  readonly start: number;
  /** Where the last output lies. */
  outputStart = 0;
  #run: SnappyExports;

  constructor() {
    this.#run = instantiateWasm(snappyWasm) as SnappyExports;
    this.start = this.#run.heap();
    this.bytes = Buffer.from(this.#run.memory.buffer);
  }

  /** Makes room for `length` bytes of input; the one before is gone. */
  reserve(length: number): void {
    if (this.bytes.length > keptMemory) {
      this.#run = instantiateWasm(snappyWasm) as SnappyExports;
      this.bytes = Buffer.from(this.#run.memory.buffer);
    }
    this.#grow(length, 0);
  }

  /** The masked checksum, as stored in tables, of the first `length` bytes of input. */
  maskedCrc32c(length: number): number {
    return maskCrc32c(this.#run.crc32c(this.start, length));
  }

  /** Compresses `length` bytes of input and answers the length of the output. */
  encode(length: number): number {
    this.#grow(length, snappyMaxLength(length));
    this.outputStart = this.start + length + slack;
    return this.#run.encode(this.start, length, this.outputStart) - this.outputStart;
  }

  /** Decompresses `length` bytes of input and answers the length of the output, at most `maxLength`. */
  decode(length: number, maxLength: number): number {
    const end = this.start + length;
    const header = new VarintReader(this.bytes, this.start, end);
    const decoded = header.uvarint();
    if (Number.isNaN(decoded)) throw new SnappyError('snappy: the length is unreadable');
    // A copy of 64 bytes takes three, so no honest block grows more than this.
    if (decoded > maxLength || decoded > length * 22 + 64) {
      throw new SnappyError(`snappy: a length of ${decoded} is impossible for ${length} bytes`);
    }
    this.#grow(length, decoded);
    this.outputStart = end + slack;
    switch (this.#run.decode(header.position, end, this.outputStart, decoded)) {
      case 0:
        return decoded;
      case -2:
        throw new SnappyError('snappy: the data is longer than it says');
      case -3:
        throw new SnappyError('snappy: a copy reaches before the start');
      default:
        throw new SnappyError('snappy: the data ends early');
    }
  }

  #grow(inputLength: number, outputLength: number): void {
    const missing = this.start + inputLength + outputLength + 3 * slack - this.bytes.length;
    if (missing <= 0) return;
    this.#run.memory.grow(Math.ceil(missing / pageSize));
    this.bytes = Buffer.from(this.#run.memory.buffer);
  }
}
