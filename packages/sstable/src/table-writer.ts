import { IdentityHasher, WorkBuffer, writeUvarint } from '@svc/encoding';
import { BlockBuilder, mustCut } from './block-builder.ts';
import { BlockOutput } from './block-output.ts';
import { readUint32 } from './block-codec.ts';
import { type BlockSizes, HashInput } from './hash-input.ts';
import { LocalRecordHash, type RecordHash, type TableCheckpoint } from './record-hash.ts';
import { separatorKey, successorKey } from './separator.ts';
import {
  type BlockHandle,
  blockTrailerLength,
  dataRestartInterval,
  emptyTableIndexKey,
  encodeFooter,
  encodeHandle,
  internalTrailerLength,
  propertiesName,
  recordTrailer,
} from './table-format.ts';
import type { TableCursor } from './table-cursor.ts';
import type { TableReader } from './table-reader.ts';
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

/**
 * Writes one table from records in strictly ascending key order. Bytes, id and estimated size equal the reference
 * writer's for the same records. Everything per record happens in reused buffers.
 */
export class TableWriter {
  readonly #output: BlockOutput;
  readonly #type: TableType;
  readonly #extra: Readonly<Record<string, string>>;

  /** The data block being filled. */
  readonly #block = new WorkBuffer(2 * 4096);
  #blockLength = 0;
  #blockEntries = 0;
  readonly #restarts: number[] = [];
  /** Stored form (with trailer) of the very block being filled, known from an existing table. */
  readonly #storedForm = new WorkBuffer(4096);
  #storedFormLength = 0;

  readonly #index = new BlockBuilder(1);
  readonly #partitions: { body: Buffer; lastKey: Buffer }[] = [];
  #lastSeparator: Buffer = emptyTableIndexKey;

  readonly #hashInput: HashInput;
  readonly #blockSizes: BlockSizes = { entries: 0, keyBytes: 0, valueBytes: 0 };

  #minKey: Buffer = Buffer.alloc(0);
  #count = 0;
  #dataBlocks = 0;
  #rawKeySize = 0;
  #rawValueSize = 0;

  constructor(sink: TableSink, options: TableWriterOptions) {
    this.#output = new BlockOutput(sink);
    this.#type = options.type;
    this.#extra = options.properties ?? {};
    this.#hashInput = new HashInput(options.hash ?? new LocalRecordHash());
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
    return Buffer.from(this.#hashInput.lastKey);
  }

  /** Flushed data blocks, plus the pending data block uncompressed, plus the current index block. */
  get estimatedSize(): number {
    return this.#output.offset + this.#blockEstimate() + this.#index.estimate;
  }

  /** True when the FNV-1a hash of the last key is a multiple of `divisor`. */
  lastKeyHashIsMultiple(divisor: number): boolean {
    return this.#hashInput.lastKeyHashIsMultiple(divisor);
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
    const hashInput = this.#hashInput;
    hashInput.reserve(keyLength, valueLength);
    const last = hashInput.bytes;
    const lastStart = hashInput.lastKeyStart;
    const lastLength = hashInput.lastKeyLength;

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
        `keys must be added in ascending order: ${key.toString('utf8', keyStart, keyEnd)} after ${hashInput.lastKey.toString()}`,
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
      this.#keepCheckpoint();
      const handle = this.#flushDataBlock();
      this.#addIndexEntry(separatorKey(hashInput.lastKey, key.subarray(keyStart, keyEnd)), handle);
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

    hashInput.add(key, keyStart, keyEnd, shared, block, at, this.#blockLength);

    if (this.#count === 0) this.#minKey = Buffer.from(key.subarray(keyStart, keyEnd));
    this.#count++;
    this.#rawKeySize += storedKeyLength;
    this.#rawValueSize += valueLength;
  }

  /**
   * Adds the whole block whose first record `from` stands at, with its stored bytes. False, with nothing done, when
   * this table would not hold the same block, or when the hash of a key before the block's last is a multiple of
   * `divisor`.
   */
  addBlock(from: TableCursor, divisor: number): boolean {
    const hashInput = this.#hashInput;
    let separator: Buffer | undefined;
    if (this.#blockEntries > 0) {
      const startsRestart = this.#blockEntries % dataRestartInterval === 0;
      const storedKeyLength = from.keyLength + internalTrailerLength;
      const valueLength = from.valueEnd - from.valueStart;
      if (!mustCut(this.#blockEstimate(), storedKeyLength, valueLength, startsRestart)) return false;
      this.#keepCheckpoint();
      separator = separatorKey(hashInput.lastKey, from.key.subarray(0, from.keyLength));
    }
    const sizes = this.#blockSizes;
    if (!hashInput.addBlock(from.block, from.bodyLength, divisor, sizes)) return false;
    if (separator === undefined) this.#minKey = Buffer.from(from.key.subarray(0, from.keyLength));
    else this.#addIndexEntry(separator, this.#flushDataBlock());

    this.#takeBlock(from, sizes.entries);
    this.#count += sizes.entries;
    this.#rawKeySize += sizes.keyBytes + sizes.entries * internalTrailerLength;
    this.#rawValueSize += sizes.valueBytes;
    return true;
  }

  /**
   * Starts with the first blocks of an open table, up to a checkpoint of its writer; the hash must go on from the
   * state it had there.
   */
  resume(reader: TableReader, checkpoint: TableCheckpoint): void {
    if (this.#count > 0) throw new Error('a table can only start with the blocks of another');
    const cursor = reader.scan();
    cursor.next();
    this.#minKey = Buffer.from(cursor.key.subarray(0, cursor.keyLength));
    // The last block may still grow, by a record that the other table did not have.
    const last = checkpoint.blocks - 1;
    cursor.seekBlock(0);
    for (let block = 0; block < last; block++) {
      this.#dataBlocks++;
      const handle = cursor.withChecked(block, (bytes, start, end) =>
        this.#output.writeStored(bytes, start, end),
      );
      this.#addIndexEntry(reader.index.storedSeparator(block), handle);
    }
    cursor.seekBlock(last);
    let entries = 0;
    do {
      cursor.next();
      entries++;
    } while (!cursor.endsBlock);
    this.#takeBlock(cursor, entries);
    this.#hashInput.resumeAfter(cursor.key.subarray(0, cursor.keyLength));
    this.#count = checkpoint.count;
    this.#rawKeySize = checkpoint.rawKeySize;
    this.#rawValueSize = checkpoint.rawValueSize;
  }

  /** Gives up before `finish`. */
  discard(): void {
    this.#hashInput.discard();
  }

  async finish(): Promise<FinishedTable> {
    const estimatedSize = this.estimatedSize;
    const maxKey = this.lastKey;
    const lastHandle = this.#flushDataBlock();
    this.#addIndexEntry(this.#count === 0 ? emptyTableIndexKey : successorKey(maxKey), lastHandle);
    const dataSize = this.#output.offset;

    let indexHandle: BlockHandle;
    let indexSize: number;
    let twoLevel: { partitions: number; topSize: number } | undefined;
    if (this.#partitions.length === 0) {
      indexSize = this.#index.estimate + blockTrailerLength;
      indexHandle = this.#output.writeBlock(this.#index.finish());
    } else {
      this.#cutIndexPartition();
      const top = new BlockBuilder(1);
      indexSize = blockTrailerLength;
      for (const { body, lastKey } of this.#partitions) {
        indexSize += body.length;
        top.add(lastKey, encodeHandle(this.#output.writeBlock(body)));
      }
      const topSize = top.estimate;
      indexSize += topSize;
      twoLevel = { partitions: this.#partitions.length, topSize };
      indexHandle = this.#output.writeBlock(top.finish());
    }

    const properties = this.#output.writePlain(
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
    const footer = encodeFooter(this.#output.writePlain(metaindex.finish()), indexHandle);
    this.#output.finish(footer);
    const fileSize = this.#output.offset;

    const userProperties = new IdentityHasher();
    userProperties.map({ ...this.#extra, type: this.#type });
    const id = await this.#hashInput.digest(userProperties.gathered(), fileSize);
    return {
      id,
      minKey: this.#minKey,
      maxKey,
      count: this.#count,
      estimatedSize,
      fileSize,
    };
  }

  #blockEstimate(): number {
    return this.#blockLength + 4 * this.#restarts.length + 4;
  }

  /** The block being filled is complete: notes how far the table is, when the hash keeps its state here. */
  #keepCheckpoint(): void {
    if (!this.#hashInput.isWorthKeeping) return;
    this.#hashInput.passUntil({
      blocks: this.#dataBlocks + 1,
      count: this.#count,
      rawKeySize: this.#rawKeySize,
      rawValueSize: this.#rawValueSize,
    });
  }

  /** Makes the block `from` stands in the one being filled, with its stored form. */
  #takeBlock(from: TableCursor, entries: number): void {
    const restarts = Math.ceil(entries / dataRestartInterval);
    const length = from.bodyLength - 4 * restarts - 4;
    this.#block.reserve(length);
    from.block.copy(this.#block.bytes, 0, 0, length);
    for (let i = 0; i < restarts; i++) this.#restarts.push(readUint32(from.block, length + 4 * i));
    this.#blockLength = length;
    this.#blockEntries = entries;
    from.withStored(from.blockNumber, (bytes, start, end) => {
      this.#storedForm.reserve(end - start);
      bytes.copy(this.#storedForm.bytes, 0, start, end);
      this.#storedFormLength = end - start;
    });
  }

  #flushDataBlock(): BlockHandle {
    this.#dataBlocks++;
    if (this.#storedFormLength > 0) {
      this.#blockLength = 0;
      this.#blockEntries = 0;
      this.#restarts.length = 0;
      const length = this.#storedFormLength;
      this.#storedFormLength = 0;
      return this.#output.writeStored(this.#storedForm.bytes, 0, length);
    }
    if (this.#restarts.length === 0) this.#restarts.push(0);
    const count = this.#restarts.length;
    this.#block.reserve(this.#blockLength + 4 * count + 4, this.#blockLength);
    const { bytes, view } = this.#block;
    let at = this.#blockLength;
    for (let i = 0; i < count; i++, at += 4) view.setUint32(at, this.#restarts[i] as number, true);
    view.setUint32(at, count, true);
    const handle = this.#output.writeBlock(bytes, 0, at + 4);
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
}
