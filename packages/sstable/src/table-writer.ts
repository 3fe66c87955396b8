import {
  fnvBasisHigh,
  fnvBasisLow,
  fnvIsMultiple,
  fnvNextHigh,
  IdentityHasher,
  maskedCrc32c,
  snappyMaxLength,
  SnappyEncoder,
  WorkBuffer,
  writeUvarint,
} from '@svc/encoding';
import { BlockBuilder, mustCut } from './block-builder.ts';
import { LocalRecordHash, type RecordHash } from './record-hash.ts';
import { separatorKey, successorKey } from './separator.ts';
import {
  type BlockHandle,
  blockTrailerLength,
  compressionNone,
  compressionSnappy,
  dataRestartInterval,
  emptyTableIndexKey,
  encodeFooter,
  encodeHandle,
  internalTrailerLength,
  propertiesName,
  recordTrailer,
} from './table-format.ts';
import { encodeProperties } from './table-properties.ts';
import type { TableSink } from './table-sink.ts';

export type TableType = 'ranges' | 'metaranges';

export interface TableWriterOptions {
  readonly type: TableType;
  /** User properties beyond `type`; hashed into the id and stored. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly hash?: RecordHash | undefined;
}

export interface FinishedTable {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
  readonly fileSize: number;
}

/** Output and hash input are passed on in pieces of this size; small tables never grow their buffers so far. */
const outputSize = 256 * 1024;
const firstBufferSize = 16 * 1024;
export const hashBufferSize = 256 * 1024;

/**
 * Writes one table from records in strictly ascending key order. Bytes, id and estimated size equal the reference
 * writer's for the same records. Everything per record happens in reused buffers.
 */
export class TableWriter {
  readonly #sink: TableSink;
  readonly #type: TableType;
  readonly #extra: Readonly<Record<string, string>>;
  readonly #hash: RecordHash;
  readonly #snappy = new SnappyEncoder();

  /** The data block being filled. */
  readonly #block = new WorkBuffer(2 * 4096);
  #blockLength = 0;
  #blockEntries = 0;
  readonly #restarts: number[] = [];
  /** Stored form (with trailer) of the very block being filled, known from an existing table. */
  readonly #storedForm = new WorkBuffer(4096);
  #storedFormLength = 0;

  readonly #output = new WorkBuffer(firstBufferSize);
  #outputLength = 0;
  #flushedToSink = 0;

  readonly #index = new BlockBuilder(1);
  readonly #partitions: { body: Buffer; lastKey: Buffer }[] = [];
  #lastSeparator: Buffer = emptyTableIndexKey;

  /** Hash input since the last update; the last key always lies whole in it. */
  #hashBuffer: Buffer = Buffer.allocUnsafeSlow(firstBufferSize);
  #hashStart = 0;
  #hashEnd = 0;
  #lastKeyStart = 0;
  #lastKeyLength = 0;
  /** FNV state after each byte of the last key: sorted keys share prefixes, so most of it is reused. */
  #fnvHigh = new Int32Array(256);
  #fnvLow = new Int32Array(256);

  #minKey: Buffer = Buffer.alloc(0);
  #count = 0;
  #dataBlocks = 0;
  #rawKeySize = 0;
  #rawValueSize = 0;

  constructor(sink: TableSink, options: TableWriterOptions) {
    this.#sink = sink;
    this.#type = options.type;
    this.#extra = options.properties ?? {};
    this.#hash = options.hash ?? new LocalRecordHash();
    this.#fnvHigh[0] = fnvBasisHigh;
    this.#fnvLow[0] = fnvBasisLow;
  }

  get count(): number {
    return this.#count;
  }

  /** The first key; empty before it. */
  get minKey(): Buffer {
    return this.#minKey;
  }

  /** A copy of the last key added. */
  get lastKey(): Buffer {
    return Buffer.from(this.#lastKey());
  }

  /** Flushed data blocks, plus the pending data block uncompressed, plus the current index block. */
  get estimatedSize(): number {
    return this.#offset + this.#blockEstimate() + this.#index.estimate;
  }

  /** True when the FNV-1a hash of the last key is a multiple of `divisor`. */
  lastKeyHashIsMultiple(divisor: number): boolean {
    const length = this.#lastKeyLength;
    return fnvIsMultiple(this.#fnvHigh[length] as number, this.#fnvLow[length] as number, divisor);
  }

  add(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
  ): void {
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    if (this.#hashEnd + keyLength + valueLength + 40 > this.#hashBuffer.length) {
      this.#passHashInput(keyLength + valueLength + 40);
    }
    const last = this.#hashBuffer;
    const lastStart = this.#lastKeyStart;
    const lastLength = this.#lastKeyLength;

    const shorter = lastLength < keyLength ? lastLength : keyLength;
    let shared = 0;
    while (shared < shorter && last[lastStart + shared] === key[keyStart + shared]) shared++;
    if (
      this.#count > 0 &&
      (shared === shorter
        ? keyLength <= lastLength
        : (key[keyStart + shared] as number) < (last[lastStart + shared] as number))
    ) {
      throw new Error(
        `keys must be added in ascending order: ${key.toString('utf8', keyStart, keyEnd)} after ${this.#lastKey().toString()}`,
      );
    }

    const storedKeyLength = keyLength + internalTrailerLength;
    if (
      this.#blockEntries > 0 &&
      mustCut(
        this.#blockEstimate(),
        storedKeyLength,
        valueLength,
        this.#blockEntries % dataRestartInterval === 0,
      )
    ) {
      const handle = this.#flushDataBlock();
      this.#addIndexEntry(separatorKey(this.#lastKey(), key.subarray(keyStart, keyEnd)), handle);
    }

    let storedShared = 0;
    if (this.#blockEntries % dataRestartInterval === 0) {
      this.#restarts.push(this.#blockLength);
    } else {
      storedShared = shared;
      // The previous stored key goes on with its trailer, which a longer key may share.
      if (shared === lastLength) {
        while (
          storedShared < keyLength &&
          storedShared - lastLength < internalTrailerLength &&
          key[keyStart + storedShared] === recordTrailer[storedShared - lastLength]
        ) {
          storedShared++;
        }
      }
    }

    const unshared = keyLength - storedShared;
    this.#block.reserve(this.#blockLength + 40 + unshared + valueLength, this.#blockLength);
    const block = this.#block.bytes;
    let at = this.#blockLength;
    if (storedShared < 0x80) block[at++] = storedShared;
    else at = writeUvarint(block, at, storedShared);
    at = writeUvarint(block, at, unshared + internalTrailerLength);
    at = writeUvarint(block, at, valueLength);
    for (let i = keyStart + storedShared; i < keyEnd; i++) block[at++] = key[i] as number;
    block[at] = 1;
    block[at + 1] = 0;
    block[at + 2] = 0;
    block[at + 3] = 0;
    block[at + 4] = 0;
    block[at + 5] = 0;
    block[at + 6] = 0;
    block[at + 7] = 0;
    at += internalTrailerLength;
    value.copy(block, at, valueStart, valueEnd);
    this.#blockLength = at + valueLength;
    this.#blockEntries++;
    this.#storedFormLength = 0;

    const hashed = this.#hashBuffer;
    let h = writeDecimal(hashed, this.#hashEnd, keyLength);
    this.#lastKeyStart = h;
    this.#lastKeyLength = keyLength;
    key.copy(hashed, h, keyStart, keyEnd);
    h += keyLength;
    hashed[h++] = 0x7c;
    h = writeDecimal(hashed, h, valueLength);
    block.copy(hashed, h, at, at + valueLength);
    h += valueLength;
    hashed[h++] = 0x7c;
    this.#hashEnd = h;

    if (keyLength >= this.#fnvHigh.length) this.#growFnv(keyLength);
    const fnvHigh = this.#fnvHigh;
    const fnvLow = this.#fnvLow;
    let high = fnvHigh[shared] as number;
    let low = fnvLow[shared] as number;
    for (let i = shared; i < keyLength; i++) {
      low ^= key[keyStart + i] as number;
      high = fnvNextHigh(high, low);
      low = Math.imul(low, 0x1b3);
      fnvHigh[i + 1] = high;
      fnvLow[i + 1] = low;
    }

    if (this.#count === 0) this.#minKey = Buffer.from(key.subarray(keyStart, keyEnd));
    this.#count++;
    this.#rawKeySize += storedKeyLength;
    this.#rawValueSize += valueLength;
  }

  /**
   * Offers the stored bytes (with trailer) of an existing block whose decoded body is `body[0, bodyLength)`. When
   * the block being filled equals it and nothing more is added, they are copied instead of compressed again.
   */
  offerStoredBlock(body: Buffer, bodyLength: number, stored: Buffer, start: number, end: number): void {
    if (this.#blockEntries === 0 || this.#blockEstimate() !== bodyLength) return;
    if (this.#block.bytes.compare(body, 0, this.#blockLength, 0, this.#blockLength) !== 0) return;
    this.#storedForm.reserve(end - start);
    stored.copy(this.#storedForm.bytes, 0, start, end);
    this.#storedFormLength = end - start;
  }

  async finish(): Promise<FinishedTable> {
    const estimatedSize = this.estimatedSize;
    const maxKey = Buffer.from(this.#lastKey());
    const lastHandle = this.#flushDataBlock();
    this.#addIndexEntry(this.#count === 0 ? emptyTableIndexKey : successorKey(maxKey), lastHandle);
    const dataSize = this.#offset;

    let indexHandle: BlockHandle;
    let indexSize: number;
    let twoLevel: { partitions: number; topSize: number } | undefined;
    if (this.#partitions.length === 0) {
      indexSize = this.#index.estimate + blockTrailerLength;
      indexHandle = this.#writeCompressed(this.#index.finish());
    } else {
      this.#cutIndexPartition();
      const top = new BlockBuilder(1);
      indexSize = blockTrailerLength;
      for (const { body, lastKey } of this.#partitions) {
        indexSize += body.length;
        top.add(lastKey, encodeHandle(this.#writeCompressed(body)));
      }
      const topSize = top.estimate;
      indexSize += topSize;
      twoLevel = { partitions: this.#partitions.length, topSize };
      indexHandle = this.#writeCompressed(top.finish());
    }

    const properties = this.#writePlain(
      encodeProperties({
        type: this.#type,
        minKey: this.#minKey,
        maxKey,
        count: this.#count,
        estimatedSize,
        dataSize,
        dataBlocks: this.#dataBlocks,
        indexSize,
        rawKeySize: this.#rawKeySize,
        rawValueSize: this.#rawValueSize,
        twoLevel,
        extra: this.#extra,
      }),
    );
    const metaindex = new BlockBuilder(1);
    metaindex.add(Buffer.from(propertiesName), encodeHandle(properties));
    const footer = encodeFooter(this.#writePlain(metaindex.finish()), indexHandle);
    this.#output.reserve(this.#outputLength + footer.length, this.#outputLength);
    footer.copy(this.#output.bytes, this.#outputLength);
    this.#outputLength += footer.length;
    const fileSize = this.#offset;
    this.#passOutput();

    const hashed = this.#hashBuffer.subarray(this.#hashStart, this.#hashEnd);
    const userProperties = new IdentityHasher();
    userProperties.map({ ...this.#extra, type: this.#type });
    const id = await this.#hash.digest(Buffer.concat([hashed, userProperties.gathered()]));
    return { id, minKey: this.#minKey, maxKey, count: this.#count, estimatedSize, fileSize };
  }

  get #offset(): number {
    return this.#flushedToSink + this.#outputLength;
  }

  #blockEstimate(): number {
    return this.#blockLength + 4 * this.#restarts.length + 4;
  }

  #lastKey(): Buffer {
    return this.#hashBuffer.subarray(this.#lastKeyStart, this.#lastKeyStart + this.#lastKeyLength);
  }

  #flushDataBlock(): BlockHandle {
    this.#dataBlocks++;
    if (this.#storedFormLength > 0) {
      this.#blockLength = 0;
      this.#blockEntries = 0;
      this.#restarts.length = 0;
      return this.#writeStoredForm();
    }
    if (this.#restarts.length === 0) this.#restarts.push(0);
    const count = this.#restarts.length;
    this.#block.reserve(this.#blockLength + 4 * count + 4, this.#blockLength);
    const { bytes, view } = this.#block;
    let at = this.#blockLength;
    for (let i = 0; i < count; i++, at += 4) view.setUint32(at, this.#restarts[i] as number, true);
    view.setUint32(at, count, true);
    const handle = this.#writeBlock(bytes, view, at + 4);
    this.#blockLength = 0;
    this.#blockEntries = 0;
    this.#restarts.length = 0;
    return handle;
  }

  #addIndexEntry(separator: Buffer, handle: BlockHandle): void {
    if (this.#index.count > 0 && mustCut(this.#index.estimate, separator.length, 20, true)) {
      this.#cutIndexPartition();
    }
    this.#index.add(separator, encodeHandle(handle));
    this.#lastSeparator = separator;
  }

  #cutIndexPartition(): void {
    this.#partitions.push({ body: this.#index.finish(), lastKey: this.#lastSeparator });
  }

  #writeCompressed(body: Buffer): BlockHandle {
    return this.#writeBlock(body, new DataView(body.buffer, body.byteOffset, body.length), body.length);
  }

  #writeBlock(body: Buffer, view: DataView, length: number): BlockHandle {
    const offset = this.#offset;
    this.#reserveOutput(snappyMaxLength(length) + blockTrailerLength);
    const output = this.#output.bytes;
    const start = this.#outputLength;
    let end = this.#snappy.encode(body, view, 0, length, this.#output, start);
    let type = compressionSnappy;
    if (end - start >= length - Math.floor(length / 8)) {
      type = compressionNone;
      body.copy(output, start, 0, length);
      end = start + length;
    }
    this.#finishBlock(start, end, type);
    return { offset, length: end - start };
  }

  #writePlain(body: Buffer): BlockHandle {
    const offset = this.#offset;
    this.#reserveOutput(body.length + blockTrailerLength);
    const start = this.#outputLength;
    body.copy(this.#output.bytes, start);
    this.#finishBlock(start, start + body.length, compressionNone);
    return { offset, length: body.length };
  }

  #writeStoredForm(): BlockHandle {
    const offset = this.#offset;
    const length = this.#storedFormLength;
    this.#reserveOutput(length);
    this.#storedForm.bytes.copy(this.#output.bytes, this.#outputLength, 0, length);
    this.#outputLength += length;
    this.#storedFormLength = 0;
    return { offset, length: length - blockTrailerLength };
  }

  #finishBlock(start: number, end: number, type: number): void {
    const output = this.#output.bytes;
    output[end] = type;
    this.#output.view.setUint32(end + 1, maskedCrc32c(output.subarray(start, end + 1)), true);
    this.#outputLength = end + blockTrailerLength;
  }

  #reserveOutput(length: number): void {
    if (this.#outputLength + length > outputSize) this.#passOutput();
    this.#output.reserve(this.#outputLength + length, this.#outputLength);
  }

  #passOutput(): void {
    if (this.#outputLength === 0) return;
    this.#sink.write(this.#output.bytes.subarray(0, this.#outputLength));
    this.#flushedToSink += this.#outputLength;
    this.#outputLength = 0;
  }

  #passHashInput(room: number): void {
    if (this.#hashEnd + room <= hashBufferSize) {
      const grown = Buffer.allocUnsafeSlow(Math.min(hashBufferSize, 4 * (this.#hashEnd + room)));
      this.#hashBuffer.copy(grown, 0, 0, this.#hashEnd);
      this.#hashBuffer = grown;
      return;
    }
    const lastKey = Buffer.from(this.#lastKey());
    let next = this.#hashBuffer;
    if (this.#hashEnd > this.#hashStart) next = this.#hash.update(next, this.#hashStart, this.#hashEnd);
    if (next.length < lastKey.length + room) next = Buffer.allocUnsafeSlow(2 * (lastKey.length + room));
    lastKey.copy(next);
    this.#hashBuffer = next;
    this.#lastKeyStart = 0;
    this.#hashStart = lastKey.length;
    this.#hashEnd = lastKey.length;
  }

  #growFnv(keyLength: number): void {
    const high = new Int32Array(2 * keyLength + 1);
    const low = new Int32Array(2 * keyLength + 1);
    high.set(this.#fnvHigh);
    low.set(this.#fnvLow);
    this.#fnvHigh = high;
    this.#fnvLow = low;
  }
}

function writeDecimal(target: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    target[at] = 0x30 + value;
    return at + 1;
  }
  let digits = 2;
  for (let power = 100; power <= value; power *= 10) digits++;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const quotient = (rest / 10) | 0;
    target[i] = 0x30 + rest - quotient * 10;
    rest = quotient;
  }
  return at + digits;
}
