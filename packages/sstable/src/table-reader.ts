import { VarintReader, WorkBuffer } from '@svc/encoding';
import { type BlockCache, CachedBlocks } from './block-cache.ts';
import { decodeBlock, readEntries } from './block-codec.ts';
import { type BlockIndex, BlockIndexReader } from './block-index.ts';
import { ClosedTableError } from './closed-table-error.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { TableCursor } from './table-cursor.ts';
import {
  type BlockHandle,
  blockTrailerLength,
  decodeFooter,
  footerLength,
  indexTypeProperty,
  propertiesName,
  readHandle,
} from './table-format.ts';
import type { TableSource } from './table-source.ts';

/** An open table. Reading is synchronous; blocks it decodes for lookups stay in the shared cache. */
export class TableReader {
  readonly source: TableSource;
  /** Told what turns out damaged; answers the error to throw instead. */
  onCorrupt: ((error: CorruptTableError) => Error) | undefined;
  readonly #cache: BlockCache | undefined;
  /** Undefined once the table is closed. */
  #index: BlockIndex | undefined;
  #blocks: CachedBlocks | undefined;
  #lookup: TableCursor | undefined;

  /** Takes over `source`, also when it throws. Without a cache every block is decoded when asked for. */
  constructor(source: TableSource, cache?: BlockCache) {
    this.source = source;
    this.#cache = cache;
    try {
      this.#index = readIndex(source);
    } catch (error) {
      source.close();
      throw error;
    }
    cache?.reserve(this.#index.weight);
  }

  /** Everything that reads asks for it first, so nothing is read from a closed table. */
  get index(): BlockIndex {
    if (this.#index === undefined) throw new ClosedTableError();
    return this.#index;
  }

  /** What the writer noted about the table; read when asked for. */
  properties(): Map<string, Buffer> {
    if (this.#index === undefined) throw new ClosedTableError();
    const properties = new Map<string, Buffer>();
    const { metaindex } = readFooter(this.source);
    for (const { key, value } of readProperties(this.source, metaindex))
      properties.set(key.toString(), value);
    return properties;
  }

  /** The decoded blocks in memory; undefined before the first. */
  get blocks(): CachedBlocks | undefined {
    return this.#blocks;
  }

  /** Keeps a copy of a decoded block in the shared cache, if there is one. */
  keepBlock(number: number, body: Buffer, start: number, length: number): void {
    const cache = this.#cache;
    if (cache === undefined || this.#index === undefined) return;
    if (this.#blocks === undefined) {
      this.#blocks = new CachedBlocks(this.#index.count);
      cache.reserve(this.#blocks.weight);
    }
    cache.add(this.#blocks, number, body, start, length);
  }

  /** Reads from start to end with its own buffers; nothing it passes enters the cache. */
  scan(): TableCursor {
    return new TableCursor(this, 'scan');
  }

  /** Reads through the cache: for lookups and short runs. */
  cursor(): TableCursor {
    return new TableCursor(this, 'run');
  }

  /**
   * A cursor at the record of `key`; undefined when the table does not hold the key. It is good until anything is read
   * through the cache: use it before anything is awaited.
   */
  find(key: Uint8Array): TableCursor | undefined {
    this.#lookup ??= new TableCursor(this, 'lookup');
    return this.#lookup.seekExact(key) ? this.#lookup : undefined;
  }

  /** The value of `key`; undefined when the table does not hold the key. */
  get(key: Uint8Array): Buffer | undefined {
    const cursor = this.find(key);
    return cursor === undefined
      ? undefined
      : Buffer.from(cursor.block.subarray(cursor.valueStart, cursor.valueEnd));
  }

  close(): void {
    if (this.#index === undefined) return;
    this.#cache?.reserve(-this.#index.weight);
    if (this.#blocks !== undefined) {
      this.#cache?.drop(this.#blocks);
      this.#cache?.reserve(-this.#blocks.weight);
    }
    // References to a closed reader must not keep memory alive that the cache no longer counts.
    this.#index = undefined;
    this.#blocks = undefined;
    this.#lookup = undefined;
    this.source.close();
  }
}

function readFooter(source: TableSource): { metaindex: BlockHandle; index: BlockHandle } {
  if (source.size < footerLength)
    throw new CorruptTableError(`${source.size} bytes are too short for a table`);
  const footer = Buffer.allocUnsafe(footerLength);
  source.read(footer, 0, footerLength, source.size - footerLength);
  return decodeFooter(footer, source.size);
}

function* readProperties(
  source: TableSource,
  metaindex: BlockHandle,
): Generator<{ key: Buffer; value: Buffer }, void> {
  for (const { key, value } of readEntries(readWholeBlock(source, metaindex))) {
    if (key.toString() !== propertiesName) continue;
    const handle = readHandle(new VarintReader(value), source.size - footerLength);
    yield* readEntries(readWholeBlock(source, handle));
  }
}

function readIndex(source: TableSource): BlockIndex {
  const handles = readFooter(source);
  // Data blocks come first in the file, without gaps, and the index lies behind them.
  const blocks = new BlockIndexReader(0, handles.index.offset);
  const top = readWholeBlock(source, handles.index);
  if (!hasTwoLevels(source, handles.metaindex)) {
    blocks.add(top);
    return blocks.finish();
  }
  const index = new BlockIndexReader(undefined, handles.index.offset);
  index.add(top);
  const partitions = index.finish();
  for (let i = 0; i < partitions.count; i++) blocks.add(readWholeBlock(source, partitions.handle(i)));
  return blocks.finish();
}

function hasTwoLevels(source: TableSource, metaindex: BlockHandle): boolean {
  for (const { key, value } of readProperties(source, metaindex)) {
    if (key.toString() !== indexTypeProperty) continue;
    if (value.length !== 4) throw new CorruptTableError('the index type is unreadable');
    return value.readUInt32LE() === 2;
  }
  return false;
}

function readWholeBlock(source: TableSource, handle: BlockHandle): Buffer {
  const stored = new WorkBuffer(handle.length + blockTrailerLength);
  source.read(stored.bytes, 0, handle.length + blockTrailerLength, handle.offset);
  const body = new WorkBuffer(0);
  const length = decodeBlock(stored, 0, handle.length, body);
  return body.bytes.subarray(0, length);
}
