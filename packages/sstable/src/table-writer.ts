import { IdentityHasher, WorkBuffer } from '@svc/encoding';
import { BlockBuilder, mustCut } from './block-builder.ts';
import { BlockOutput } from './block-output.ts';
import { LocalRecordHash, type RecordHash, type TableCheckpoint } from './record-hash.ts';
import { RecordKernel, recordStatus } from './record-kernel.ts';
import { separatorKey, successorKey } from './separator.ts';
import {
  type BlockHandle,
  blockTrailerLength,
  dataRestartInterval,
  emptyTableIndexKey,
  encodeFooter,
  propertiesName,
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
  /** After which records the caller wants to be asked whether the table ends. */
  readonly split?: TableSplit | undefined;
}

export interface TableSplit {
  /** Those whose key has an FNV-1a hash that is a multiple of this. */
  readonly divisor: number;
  /** Those that bring the estimated size to this. */
  readonly maxSize: number;
}

export interface FinishedTable {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
  readonly fileSize: number;
}

/** Hash input between states worth keeping, less what is left of a piece for one block. */
const keptInterval = 160 * 1024;
const noLimit = 0x7fffffff;

/**
 * Writes one table from records in strictly ascending key order. Bytes, id and estimated size equal the reference
 * writer's for the same records. What happens per record happens in WebAssembly; here, what happens per block.
 */
export class TableWriter {
  readonly #output: BlockOutput;
  readonly #type: TableType;
  readonly #extra: Readonly<Record<string, string>>;
  readonly #hash: RecordHash;
  readonly #maxSize: number;
  readonly #kernel: RecordKernel;
  #released = false;

  /** Stored form (with trailer) of the block being filled, known from an existing table while it has so many entries. */
  readonly #storedForm = new WorkBuffer(4096);
  #storedFormLength = 0;
  #storedFormEntries = 0;

  readonly #index = new BlockBuilder(1);
  readonly #partitions: { body: Buffer; lastKey: Buffer }[] = [];
  #lastSeparator: Buffer = emptyTableIndexKey;

  #minKey: Buffer | undefined;
  #maxKey: Buffer | undefined;
  #dataBlocks = 0;

  constructor(sink: TableSink, options: TableWriterOptions) {
    this.#output = new BlockOutput(sink);
    this.#type = options.type;
    this.#extra = options.properties ?? {};
    this.#hash = options.hash ?? new LocalRecordHash();
    this.#kernel = RecordKernel.take();
    this.#maxSize = options.split?.maxSize ?? Number.POSITIVE_INFINITY;
    if (options.split !== undefined) this.#kernel.run.setDivisor(options.split.divisor);
    this.#limitBlock();
  }

  get count(): number {
    return this.#kernel.run.recordCount();
  }

  /** The first key; empty before it. */
  get minKey(): Buffer {
    return this.#minKey ?? Buffer.alloc(0);
  }

  /** A copy of the last key added. */
  get lastKey(): Buffer {
    return this.#maxKey ?? Buffer.from(this.#kernel.lastKey);
  }

  /** Flushed data blocks, plus the pending data block uncompressed, plus the current index block. */
  get estimatedSize(): number {
    return this.#output.offset + this.#kernel.run.estimate() + this.#index.estimate;
  }

  /** True when the FNV-1a hash of the last key is a multiple of `divisor`. */
  lastKeyHashIsMultiple(divisor: number): boolean {
    return this.#kernel.run.lastKeyIsMultiple(divisor) !== 0;
  }

  /** Adds a record. True when the table may have to end with it. */
  add(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
  ): boolean {
    const kernel = this.#kernel;
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    kernel.reserve(keyLength + valueLength);
    const { bytes, stage } = kernel;
    key.copy(bytes, stage, keyStart, keyEnd);
    value.copy(bytes, stage + keyLength, valueStart, valueEnd);
    this.#minKey ??= Buffer.from(key.subarray(keyStart, keyEnd));
    for (;;) {
      const status = kernel.run.add(keyLength, valueLength);
      if (status === recordStatus.done) return false;
      if (status === recordStatus.due) return true;
      if (!this.#makeWay(status)) {
        throw new Error(
          `keys must be added in ascending order: ${key.toString('utf8', keyStart, keyEnd)} after ${kernel.lastKey.toString()}`,
        );
      }
    }
  }

  /**
   * Adds the records of the block whose first record `from` stands at, up to one that the table may have to end
   * with, and moves `from` to the last one added. A block that comes out as it was is not compressed again. False,
   * with nothing done, when its first record has to be added by itself.
   */
  addBlock(from: TableCursor): boolean {
    const kernel = this.#kernel;
    const { run } = kernel;
    kernel.reserve(from.bodyLength + run.lastKeyLength());
    from.block.copy(kernel.bytes, kernel.body, from.bodyStart, from.bodyStart + from.bodyLength);
    run.openBody(from.entriesLength);
    let status: number;
    do status = run.addBody();
    while (status > recordStatus.due && this.#makeWay(status));
    const position = run.bodyPosition();
    if (position === 0) return false;
    this.#minKey ??= Buffer.from(from.key.subarray(0, from.keyLength));
    if (status === recordStatus.done && run.isBody(from.bodyLength) !== 0) this.#keepStoredForm(from);
    from.passTo(position);
    return true;
  }

  /**
   * Adds records that lie packed in `bytes[start, end)`: key length and value length (u32, little-endian), key, value.
   * Answers how many bytes of them were added: all up to one that the table may have to end with, one without a
   * value, or one that does not fit; those are for `add`.
   */
  addPacked(bytes: Buffer, start: number, end: number): number {
    const kernel = this.#kernel;
    const { run } = kernel;
    const length = Math.min(end - start, kernel.room);
    bytes.copy(kernel.bytes, kernel.body, start, start + length);
    run.openBody(length);
    let status: number;
    do status = run.addPacked();
    while (status > recordStatus.due && this.#makeWay(status));
    const added = run.bodyPosition();
    if (added > 0)
      this.#minKey ??= Buffer.from(bytes.subarray(start + 8, start + 8 + bytes.readUInt32LE(start)));
    return added;
  }

  /**
   * Starts with the first blocks of an open table, up to a checkpoint of its writer; the hash must go on from the
   * state it had there.
   */
  resume(reader: Pick<TableReader, 'scan' | 'index'>, checkpoint: TableCheckpoint): void {
    const kernel = this.#kernel;
    const { run } = kernel;
    if (run.recordCount() > 0) throw new Error('a table can only start with the blocks of another');
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
    const { key, keyLength, bodyStart, bodyLength } = cursor;
    kernel.reserve(bodyLength + keyLength);
    cursor.block.copy(kernel.bytes, kernel.body, bodyStart, bodyStart + bodyLength);
    run.takeBody(cursor.entriesLength, entries, Math.ceil(entries / dataRestartInterval));
    this.#keepStoredForm(cursor);
    key.copy(kernel.bytes, kernel.stage, 0, keyLength);
    run.resume(keyLength, checkpoint.count, checkpoint.rawKeySize, checkpoint.rawValueSize);
    this.#limitBlock();
  }

  /** Gives up before `finish`. */
  discard(): void {
    this.#release();
    this.#hash.discard();
  }

  async finish(): Promise<FinishedTable> {
    const { run } = this.#kernel;
    const { estimatedSize, minKey } = this;
    const count = run.recordCount();
    const maxKey = this.lastKey;
    this.#maxKey = maxKey;
    const lastHandle = this.#flushDataBlock();
    this.#addIndexEntry(count === 0 ? emptyTableIndexKey : successorKey(maxKey), lastHandle);
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
        top.addHandle(lastKey, this.#output.writeBlock(body));
      }
      const topSize = top.estimate;
      indexSize += topSize;
      twoLevel = { partitions: this.#partitions.length, topSize };
      indexHandle = this.#output.writeBlock(top.finish());
    }

    const properties = this.#output.writePlain(
      encodeProperties({
        type: this.#type,
        minKey,
        maxKey,
        count,
        estimatedSize,
        dataSize,
        dataBlocks: this.#dataBlocks,
        indexSize,
        rawKeySize: run.keyBytes(),
        rawValueSize: run.valueBytes(),
        twoLevel,
        extra: this.#extra,
      }),
    );
    const metaindex = new BlockBuilder(1);
    metaindex.addHandle(Buffer.from(propertiesName), properties);
    const footer = encodeFooter(this.#output.writePlain(metaindex.finish()), indexHandle);
    this.#output.finish(footer);
    const fileSize = this.#output.offset;

    const userProperties = new IdentityHasher();
    userProperties.map({ ...this.#extra, type: this.#type });
    const last = Buffer.concat([
      this.#kernel.bytes.subarray(run.inputStart(), run.inputEnd()),
      userProperties.gathered(),
    ]);
    this.#release();
    return {
      id: await this.#hash.digest(last, fileSize),
      minKey,
      maxKey,
      count,
      estimatedSize,
      fileSize,
    };
  }

  /** Does what must come before the record that waits; false when it cannot be added. */
  #makeWay(status: number): boolean {
    if (status === recordStatus.mustPass) {
      this.#pass(undefined);
      return true;
    }
    if (status !== recordStatus.mustCut) return false;
    const separator = separatorKey(this.#kernel.lastKey, this.#kernel.nextKey);
    this.#keepCheckpoint();
    this.#addIndexEntry(separator, this.#flushDataBlock());
    this.#limitBlock();
    return true;
  }

  /** The block being filled is complete: notes how far the table is, when the hash keeps its state here. */
  #keepCheckpoint(): void {
    const { run } = this.#kernel;
    if (run.inputEnd() - run.inputStart() < keptInterval) return;
    this.#pass({
      blocks: this.#dataBlocks + 1,
      count: run.recordCount(),
      rawKeySize: run.keyBytes(),
      rawValueSize: run.valueBytes(),
    });
  }

  #pass(checkpoint: TableCheckpoint | undefined): void {
    const { run, bytes } = this.#kernel;
    this.#hash.update(bytes.subarray(run.inputStart(), run.inputEnd()), checkpoint);
    run.passed();
  }

  /** The block being filled is the one `from` stands in. */
  #keepStoredForm(from: TableCursor): void {
    // The block at hand may come from memory; what its file holds now is another matter.
    from.withChecked(from.blockNumber, (bytes, start, end) => {
      this.#storedForm.reserve(end - start);
      bytes.copy(this.#storedForm.bytes, 0, start, end);
      this.#storedFormLength = end - start;
    });
    this.#storedFormEntries = this.#kernel.run.entries();
  }

  #flushDataBlock(): BlockHandle {
    const { run, bytes } = this.#kernel;
    this.#dataBlocks++;
    const storedLength = run.entries() === this.#storedFormEntries ? this.#storedFormLength : 0;
    this.#storedFormLength = 0;
    let handle: BlockHandle;
    if (storedLength > 0) {
      handle = this.#output.writeStored(this.#storedForm.bytes, 0, storedLength);
    } else {
      const start = run.block();
      handle = this.#output.writeBlock(bytes, start, start + run.finishBlock());
    }
    run.startBlock();
    return handle;
  }

  /** Tells how large the block being filled may become before the table reaches its greatest size. */
  #limitBlock(): void {
    const left = this.#maxSize - this.#output.offset - this.#index.estimate;
    this.#kernel.run.setSizeLimit(Math.max(0, Math.min(left, noLimit)));
  }

  #release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#kernel.release();
  }

  #addIndexEntry(separator: Buffer, handle: BlockHandle): void {
    if (this.#index.count > 0 && mustCut(this.#index.estimate, separator.length, 20, true)) {
      this.#cutIndexPartition();
    }
    this.#index.addHandle(separator, handle);
    this.#lastSeparator = separator;
  }

  #cutIndexPartition(): void {
    this.#partitions.push({ body: this.#index.finish(), lastKey: this.#lastSeparator });
  }
}
