import { compareSlices, WorkBuffer } from '@svc/encoding';
import { checkBlock, decodeBlock, entriesEnd, readUint32 } from './block-codec.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { blockTrailerLength, internalTrailerLength } from './table-format.ts';
import type { TableReader } from './table-reader.ts';

const firstReadAhead = 16 * 1024;
const maxReadAhead = 256 * 1024;

/**
 * Walks a table's records in key order. After `next()` answers true the record is `key[0, keyLength)` and
 * `block[valueStart, valueEnd)`; both stay valid until the next call.
 */
export class TableCursor {
  /** Holds the current key from 0; longer than the key. */
  key: Buffer = Buffer.allocUnsafeSlow(256);
  keyLength = 0;
  /** The decoded block of the current record. */
  block: Buffer = Buffer.alloc(0);
  valueStart = 0;
  valueEnd = 0;

  readonly #reader: TableReader;
  readonly #cached: boolean;
  #blockNumber = -1;
  #bodyLength = 0;
  #entriesEnd = 0;
  #entryStart = 0;
  #position = 0;
  #storedKeyLength = 0;
  /** Leading bytes of the current stored key taken from the one before. */
  #shared = 0;
  /** The current record was found by a seek and is still to be returned. */
  #held = false;

  readonly #decoded = new WorkBuffer(0);
  readonly #stored = new WorkBuffer(0);
  #storedFrom = 0;
  #storedLength = 0;
  #readAhead = firstReadAhead;

  constructor(reader: TableReader, cached: boolean) {
    this.#reader = reader;
    this.#cached = cached;
  }

  /** The number of the current record's block. */
  get blockNumber(): number {
    return this.#blockNumber;
  }

  /** True when the current record is the last of its block. */
  get endsBlock(): boolean {
    return this.#position >= this.#entriesEnd;
  }

  /** True when the current record is the first of its block. */
  get startsBlock(): boolean {
    return this.#entryStart === 0;
  }

  /** The block that follows the current one. */
  get nextBlock(): number {
    return this.#blockNumber + 1;
  }

  get bodyLength(): number {
    return this.#bodyLength;
  }

  /** The part of the block's body that holds entries. */
  get entriesLength(): number {
    return this.#entriesEnd;
  }

  next(): boolean {
    if (this.#held) {
      this.#held = false;
      return true;
    }
    while (this.#position >= this.#entriesEnd) {
      if (this.#blockNumber + 1 >= this.#reader.index.count) {
        this.#blockNumber = this.#reader.index.count;
        return false;
      }
      this.#load(this.#blockNumber + 1);
    }
    this.#readEntry();
    return true;
  }

  /** The following `next()` yields the first record with key >= `target`. */
  seek(target: Uint8Array): void {
    this.#held = false;
    const number = this.#reader.index.find(target);
    if (number >= this.#reader.index.count) {
      this.#blockNumber = number;
      this.#position = 0;
      this.#entriesEnd = 0;
      return;
    }
    if (number !== this.#blockNumber) this.#load(number);
    this.#position = this.#findRestart(target);
    this.#storedKeyLength = 0;
    // How many bytes the previous key, which is below the target, has in common with it.
    let matched = 0;
    let previousLength = 0;
    while (this.#position < this.#entriesEnd) {
      this.#readEntry();
      const { key, keyLength } = this;
      const shared = this.#shared;
      const before = previousLength;
      previousLength = keyLength;
      // It shares the byte that put the previous key below the target.
      if (shared > matched && matched < before) continue;
      let i = shared < matched ? shared : matched;
      const shorter = keyLength < target.length ? keyLength : target.length;
      while (i < shorter && key[i] === target[i]) i++;
      const order = i < shorter ? (key[i] as number) - (target[i] as number) : keyLength - target.length;
      if (order >= 0) {
        this.#held = true;
        return;
      }
      matched = i;
    }
  }

  /** Goes to the first record of block `number`. */
  seekBlock(number: number): void {
    this.#held = false;
    this.#blockNumber = number - 1;
    this.#position = 0;
    this.#entriesEnd = 0;
  }

  /**
   * Goes from a block's first record on to the one whose entry ends at `position`. Its key and value are not shown
   * when it is the block's last.
   */
  passTo(position: number): void {
    if (position >= this.#entriesEnd) this.#position = this.#entriesEnd;
    else while (this.#position < position) this.#readEntry();
  }

  /** Orders the current key and `other`. */
  compareKey(other: Uint8Array): number {
    return compareSlices(this.key, 0, this.keyLength, other, 0, other.length);
  }

  /** Calls `use` with the stored bytes, trailer included, of block `number`. */
  withStored<Result>(number: number, use: (bytes: Buffer, start: number, end: number) => Result): Result {
    const start = this.#fetch(number);
    return use(this.#stored.bytes, start, start + this.#reader.index.length(number) + blockTrailerLength);
  }

  /** Like `withStored`, after comparing the block's checksum. */
  withChecked<Result>(number: number, use: (bytes: Buffer, start: number, end: number) => Result): Result {
    const start = this.#fetch(number);
    try {
      checkBlock(this.#stored, start, this.#reader.index.length(number));
    } catch (error) {
      if (error instanceof CorruptTableError) this.#reader.onCorrupt?.();
      throw error;
    }
    return use(this.#stored.bytes, start, start + this.#reader.index.length(number) + blockTrailerLength);
  }

  #load(number: number): void {
    const { blocks, cache } = this.#reader;
    const hit = blocks[number];
    if (hit !== undefined) {
      hit.used = true;
      this.#enter(number, hit.body, hit.body.length);
      return;
    }
    const length = this.#decode(number);
    if (this.#cached && cache !== undefined) {
      const { body } = cache.add(this.#reader, number, this.#decoded.bytes, length);
      this.#enter(number, body, length);
    } else {
      this.#enter(number, this.#decoded.bytes, length);
    }
  }

  #decode(number: number): number {
    try {
      const start = this.#fetch(number);
      return decodeBlock(this.#stored, start, this.#reader.index.length(number), this.#decoded);
    } catch (error) {
      if (error instanceof CorruptTableError) this.#reader.onCorrupt?.();
      throw error;
    }
  }

  #enter(number: number, body: Buffer, length: number): void {
    this.#entriesEnd = entriesEnd(body, length);
    this.block = body;
    this.#bodyLength = length;
    this.#blockNumber = number;
    this.#position = 0;
    this.#storedKeyLength = 0;
  }

  /** Brings a block's stored bytes into the read buffer and answers where they start in it. */
  #fetch(number: number): number {
    const { index, source } = this.#reader;
    const offset = index.offset(number);
    const length = index.length(number) + blockTrailerLength;
    if (offset >= this.#storedFrom && offset + length <= this.#storedFrom + this.#storedLength) {
      return offset - this.#storedFrom;
    }
    const sequential = offset === this.#storedFrom + this.#storedLength || offset > this.#storedFrom;
    this.#readAhead =
      sequential && this.#storedLength > 0 ? Math.min(this.#readAhead * 2, maxReadAhead) : firstReadAhead;
    const wanted = Math.min(Math.max(length, this.#readAhead), source.size - offset);
    this.#storedLength = 0;
    this.#stored.reserve(wanted + 16);
    source.read(this.#stored.bytes, 0, wanted, offset);
    this.#storedFrom = offset;
    this.#storedLength = wanted;
    return 0;
  }

  /** The position of the last restart whose key is below `target`, or 0. */
  #findRestart(target: Uint8Array): number {
    const { block } = this;
    const restarts = this.#entriesEnd;
    let low = 0;
    let high = (this.#bodyLength - 4 - restarts) / 4 - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      this.#position = readUint32(block, restarts + 4 * middle);
      if (this.#position >= restarts) throw new CorruptTableError("a block's restart lies outside it");
      this.#storedKeyLength = 0;
      this.#readEntry();
      if (this.compareKey(target) < 0) low = middle;
      else high = middle - 1;
    }
    return low === 0 ? 0 : readUint32(block, restarts + 4 * low);
  }

  #readEntry(): void {
    const { block } = this;
    const end = this.#entriesEnd;
    let at = this.#position;
    this.#entryStart = at;
    let shared = block[at++] as number;
    let unshared = block[at++] as number;
    let valueLength = block[at++] as number;
    if ((shared | unshared) >= 0x80) {
      at -= 3;
      shared = this.#uvarint(at);
      at = this.#varintEnd;
      unshared = this.#uvarint(at);
      at = this.#varintEnd;
      valueLength = this.#uvarint(at);
      at = this.#varintEnd;
    } else if (valueLength >= 0x80) {
      const second = block[at] as number;
      if (second < 0x80) {
        valueLength = (valueLength & 0x7f) | (second << 7);
        at++;
      } else {
        valueLength = this.#uvarint(at - 1);
        at = this.#varintEnd;
      }
    }
    const stored = shared + unshared;
    if (
      shared > this.#storedKeyLength ||
      unshared + valueLength > end - at ||
      stored < internalTrailerLength
    ) {
      throw new CorruptTableError('an entry passes the end of its block');
    }
    if (stored > this.key.length) this.#growKey(stored, shared);
    const { key } = this;
    if (unshared > 48) {
      block.copy(key, shared, at, at + unshared);
    } else {
      for (let i = 0; i < unshared; i++) key[shared + i] = block[at + i] as number;
    }
    this.#shared = shared;
    this.#storedKeyLength = stored;
    this.keyLength = stored - internalTrailerLength;
    this.valueStart = at + unshared;
    this.valueEnd = this.valueStart + valueLength;
    this.#position = this.valueEnd;
  }

  #varintEnd = 0;

  #uvarint(at: number): number {
    let value = 0;
    let position = at;
    for (let scale = 1; scale <= 0x10000000; scale *= 0x80) {
      const byte = position < this.#entriesEnd ? (this.block[position++] as number) : 0x80;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#varintEnd = position;
        return value;
      }
    }
    throw new CorruptTableError('a block holds an unreadable length');
  }

  #growKey(length: number, keep: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * length);
    this.key.copy(grown, 0, 0, keep);
    this.key = grown;
  }
}
