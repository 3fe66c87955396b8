import { maskedCrc32c, snappyEncode, snappyMaxLength, WorkBuffer } from '@svc/encoding';
import { type BlockHandle, blockTrailerLength, compressionNone, compressionSnappy } from './table-format.ts';
import type { TableSink } from './table-sink.ts';

/** Output is passed on in pieces of this size; small tables never grow their buffer so far. */
const outputSize = 256 * 1024;
const firstBufferSize = 16 * 1024;

/** The bytes of a table as they are written: blocks with their trailers, one after the other. */
export class BlockOutput {
  readonly #sink: TableSink;
  readonly #output = new WorkBuffer(firstBufferSize);
  #length = 0;
  #passed = 0;

  constructor(sink: TableSink) {
    this.#sink = sink;
  }

  /** Bytes written so far. */
  get offset(): number {
    return this.#passed + this.#length;
  }

  /** Writes a block compressed, unless that saves too little. */
  writeBlock(body: Buffer, bodyStart = 0, bodyEnd: number = body.length): BlockHandle {
    const { offset } = this;
    const length = bodyEnd - bodyStart;
    this.#reserve(snappyMaxLength(length) + blockTrailerLength);
    const start = this.#length;
    let end = snappyEncode(body, bodyStart, bodyEnd, this.#output.bytes, start);
    let type = compressionSnappy;
    if (end - start >= length - Math.floor(length / 8)) {
      type = compressionNone;
      body.copy(this.#output.bytes, start, bodyStart, bodyEnd);
      end = start + length;
    }
    this.#finishBlock(start, end, type);
    return { offset, length: end - start };
  }

  /** Writes a block as it is. */
  writePlain(body: Buffer): BlockHandle {
    const { offset } = this;
    this.#reserve(body.length + blockTrailerLength);
    const start = this.#length;
    body.copy(this.#output.bytes, start);
    this.#finishBlock(start, start + body.length, compressionNone);
    return { offset, length: body.length };
  }

  /** Writes a block in its stored form, trailer included. */
  writeStored(bytes: Buffer, start: number, end: number): BlockHandle {
    const { offset } = this;
    this.#append(bytes, start, end);
    return { offset, length: end - start - blockTrailerLength };
  }

  /** Writes the last bytes and passes everything on. */
  finish(footer: Buffer): void {
    this.#append(footer, 0, footer.length);
    this.#pass();
  }

  #append(bytes: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    bytes.copy(this.#output.bytes, this.#length, start, end);
    this.#length += end - start;
  }

  #finishBlock(start: number, end: number, type: number): void {
    const output = this.#output.bytes;
    output[end] = type;
    this.#output.view.setUint32(end + 1, maskedCrc32c(output.subarray(start, end + 1)), true);
    this.#length = end + blockTrailerLength;
  }

  #reserve(length: number): void {
    if (this.#length + length > outputSize) this.#pass();
    this.#output.reserve(this.#length + length, this.#length);
  }

  #pass(): void {
    if (this.#length === 0) return;
    this.#sink.write(this.#output.bytes.subarray(0, this.#length));
    this.#passed += this.#length;
    this.#length = 0;
  }
}
