import { compareSlices } from '@svc/encoding';
import { decodeBlockIn, entriesEnd, readUint32 } from './block-codec.ts';
import type { BlockIndex } from './block-index.ts';
import { ClosedTableError } from './closed-table-error.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import type { Slab } from './block-cache.ts';
import { giveBack, lookups, takeWorkspace, type Workspace } from './cursor-workspace.ts';
import { EntryHeader, passesEnd } from './entry-header.ts';
import { StoredBlocks } from './stored-blocks.ts';
import { blockTrailerLength, internalTrailerLength } from './table-format.ts';
import type { TableReader } from './table-reader.ts';

/**
 * What a cursor is for. A scan leaves the cache as it is; a run of some records also keeps what it decodes; a lookup
 * asks for one record, reads one block and stands in the cache's memory until anything else is read.
 */
export type CursorUse = 'scan' | 'run' | 'lookup';

const nothing: Buffer = Buffer.alloc(0);

/**
 * Walks a table's records in key order. After `next()` answers true the record is `key[0, keyLength)` and
 * `block[valueStart, valueEnd)`; both stay valid until the next call.
 */
export class TableCursor {
  /** Holds the current key from 0; longer than the key. */
  key: Buffer;
  keyLength = 0;
  /** Holds the decoded block of the current record, and possibly others. */
  block: Buffer = nothing;
  valueStart = 0;
  valueEnd = 0;

  readonly #reader: TableReader;
  readonly #use: CursorUse;
  #blockNumber = -1;
  /** The block's body is `block[#bodyStart, #bodyStart + #bodyLength)`; positions are those in `block`. */
  #bodyStart = 0;
  #bodyLength = 0;
  #entriesEnd = 0;
  #entryStart = 0;
  #position = 0;
  #storedKeyLength = 0;
  readonly #header = new EntryHeader();
  /** The current record was found by a seek and is still to be returned. */
  #held = false;

  readonly #space: Workspace;
  readonly #stored: StoredBlocks;
  /** The cache's memory it stands in, if it does. */
  #slab: Slab | undefined;
  #released = false;

  constructor(reader: TableReader, use: CursorUse) {
    this.#reader = reader;
    this.#use = use;
    const space = use === 'lookup' ? lookups().workspace : takeWorkspace();
    this.#space = space;
    this.#stored = new StoredBlocks(reader, space.stored, (error) => this.#report(error));
    this.key = space.key;
  }

  /** Gives its memory back for reuse; the cursor is dead afterwards. Without this call the collector frees it. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#unpin();
    this.key = nothing;
    this.block = nothing;
    this.seekBlock(0);
    giveBack(this.#space);
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
    return this.#entryStart === this.#bodyStart;
  }

  /** The block that follows the current one. */
  get nextBlock(): number {
    return this.#blockNumber + 1;
  }

  /** Where in `block` the current block's body begins. */
  get bodyStart(): number {
    return this.#bodyStart;
  }

  get bodyLength(): number {
    return this.#bodyLength;
  }

  /** The part of the block's body that holds entries. */
  get entriesLength(): number {
    return this.#entriesEnd - this.#bodyStart;
  }

  next(): boolean {
    if (this.#held) {
      this.#held = false;
      return true;
    }
    while (this.#position >= this.#entriesEnd) {
      const { count } = this.#openIndex();
      if (this.#blockNumber + 1 >= count) {
        this.#blockNumber = count;
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
    const index = this.#openIndex();
    const number = index.find(target);
    if (number >= index.count) {
      this.seekBlock(number + 1);
      return;
    }
    // A lookup's block may be gone: the cache's memory is used again.
    if (number !== this.#blockNumber || this.#use === 'lookup') this.#load(number);
    const restart = this.#findRestart(target);
    if (!this.#seekFrom(restart, target)) this.#seekByKeys(restart, target);
  }

  /** Goes to the record with key `target`; false when there is none. */
  seekExact(target: Uint8Array): boolean {
    this.seek(target);
    if (!this.next() || this.keyLength !== target.length) return false;
    const { key } = this;
    for (let i = target.length - 1; i >= 0; i--) if (key[i] !== target[i]) return false;
    return true;
  }

  /** Goes to the first record of block `number`. */
  seekBlock(number: number): void {
    this.#held = false;
    this.#blockNumber = number - 1;
    this.#position = 0;
    this.#entriesEnd = 0;
  }

  /**
   * Goes from a block's first record on to the one whose entry ends at `position` of the body. Its key and value are not shown
   * when it is the block's last.
   */
  passTo(position: number): void {
    const stop = this.#bodyStart + position;
    if (stop >= this.#entriesEnd) this.#position = this.#entriesEnd;
    else while (this.#position < stop) this.#readEntry();
  }

  /** Orders the current key and `other`. */
  compareKey(other: Uint8Array): number {
    return compareSlices(this.key, 0, this.keyLength, other, 0, other.length);
  }

  /** Calls `use` with the stored bytes, trailer included, of block `number`. */
  withStored<Result>(number: number, use: (bytes: Buffer, start: number, end: number) => Result): Result {
    const start = this.#stored.fetch(number);
    return use(this.#stored.bytes, start, this.#stored.endOf(number, start));
  }

  /** Like `withStored`, after comparing the block's checksum, unless that was done since the bytes were read. */
  withChecked<Result>(number: number, use: (bytes: Buffer, start: number, end: number) => Result): Result {
    const start = this.#stored.check(number);
    return use(this.#stored.bytes, start, this.#stored.endOf(number, start));
  }

  /** The error to throw when the current record cannot be understood; the table's owner is told. */
  damage(what: string, cause?: unknown): Error {
    return this.#report(new CorruptTableError(what, { cause })) as Error;
  }

  #report(error: unknown): unknown {
    if (!(error instanceof CorruptTableError)) return error;
    return this.#reader.onCorrupt?.(error) ?? error;
  }

  /** A cursor that was released must fail; its table may be closed, and what it shows would pass for the end. */
  #openIndex(): BlockIndex {
    if (this.#released) throw new ClosedTableError('the cursor was released');
    return this.#reader.index;
  }

  #load(number: number): void {
    this.#unpin();
    const reader = this.#reader;
    const cached = reader.blocks;
    const slab = cached?.slabs[number];
    if (cached === undefined || slab === undefined) {
      if (this.#use === 'lookup') {
        this.#decodeHere(number);
        return;
      }
      const length = this.#stored.decode(number, this.#space.decoded);
      if (this.#use === 'run') reader.keepBlock(number, this.#space.decoded.bytes, 0, length);
      this.#enter(number, this.#space.decoded.bytes, 0, length);
      return;
    }
    cached.used[number] = 1;
    const start = cached.starts[number] as number;
    const length = cached.lengths[number] as number;
    if (this.#use !== 'lookup') {
      slab.pins++;
      this.#slab = slab;
    }
    this.#enter(number, slab.bytes, start, length);
  }

  #unpin(): void {
    if (this.#slab !== undefined) this.#slab.pins--;
    this.#slab = undefined;
  }

  /** Reads a block into the memory of lookups and stands in it there. */
  #decodeHere(number: number): void {
    const { index, source } = this.#reader;
    const { area } = lookups();
    const length = index.length(number);
    area.reserve(length + blockTrailerLength);
    let start: number;
    let end: number;
    try {
      source.read(area.bytes, area.start, length + blockTrailerLength, index.offset(number));
      [start, end] = decodeBlockIn(area, length);
    } catch (error) {
      throw this.#report(error);
    }
    this.#reader.keepBlock(number, area.bytes, start, end - start);
    this.#enter(number, area.bytes, start, end - start);
  }

  #enter(number: number, block: Buffer, start: number, length: number): void {
    try {
      this.#entriesEnd = entriesEnd(block, start, length);
    } catch (error) {
      throw this.#report(error);
    }
    this.block = block;
    this.#bodyStart = start;
    this.#bodyLength = length;
    this.#blockNumber = number;
    this.#position = start;
    this.#storedKeyLength = 0;
  }

  /** The position of the last restart whose key is below `target`, or of the first. */
  #findRestart(target: Uint8Array): number {
    const { block } = this;
    const restarts = this.#entriesEnd;
    const start = this.#bodyStart;
    let low = 0;
    let high = (start + this.#bodyLength - 4 - restarts) / 4 - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const position = start + readUint32(block, restarts + 4 * middle);
      if (position >= restarts) throw this.damage("a block's restart lies outside it");
      this.#readHeader(position);
      if (this.#header.shared !== 0) throw this.damage('a restart shares bytes with another key');
      const keyStart = this.#header.end;
      const length = this.#header.unshared - internalTrailerLength;
      const shorter = length < target.length ? length : target.length;
      let i = 0;
      while (i < shorter && block[keyStart + i] === target[i]) i++;
      if (i < shorter ? (block[keyStart + i] as number) < (target[i] as number) : length < target.length) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low === 0 ? start : start + readUint32(block, restarts + 4 * low);
  }

  /**
   * Finds the first record not below `target` from the restart at `position` on, without putting keys together that
   * are below it. False when a key shares bytes of a trailer, which only `#seekByKeys` understands.
   */
  #seekFrom(position: number, target: Uint8Array): boolean {
    const { block } = this;
    const end = this.#entriesEnd;
    // How many bytes the key before, which is below the target, has in common with it; and its length.
    let matched = 0;
    let before = 0;
    let at = position;
    while (at < end) {
      // As in #readHeader, for the lengths most entries have; the others are left to it.
      let shared = block[at] as number;
      let unshared = block[at + 1] as number;
      let valueLength = block[at + 2] as number;
      let keyAt = at + 3;
      if (valueLength >= 0x80) {
        const second = block[keyAt++] as number;
        valueLength = second < 0x80 ? (valueLength & 0x7f) | (second << 7) : end;
      }
      if ((shared | unshared) >= 0x80 || keyAt + unshared + valueLength > end) {
        this.#readHeader(at);
        ({ shared, unshared, valueLength, end: keyAt } = this.#header);
      }
      const keyLength = shared + unshared - internalTrailerLength;
      const keyStart = keyAt - shared;
      if (shared > before) {
        if (at === position || shared > before + internalTrailerLength)
          throw this.damage('an entry shares more than the key before it has');
        return false;
      }
      // Otherwise it shares the byte that put the key before below the target.
      if (shared <= matched) {
        const shorter = keyLength < target.length ? keyLength : target.length;
        let i = shared;
        while (i < shorter && block[keyStart + i] === target[i]) i++;
        if (
          i < shorter ? (block[keyStart + i] as number) > (target[i] as number) : keyLength >= target.length
        ) {
          this.#readHeader(at);
          this.#hold(at, target);
          return true;
        }
        matched = i;
      }
      before = keyLength;
      at = keyAt + unshared + valueLength;
    }
    this.#position = end;
    return true;
  }

  /** Makes the entry at `position`, whose header was read, the current one; the bytes it shares are the target's. */
  #hold(position: number, target: Uint8Array): void {
    const { shared, unshared } = this.#header;
    if (shared + unshared > this.key.length) this.#growKey(shared + unshared, 0);
    const { key } = this;
    for (let i = 0; i < shared; i++) key[i] = target[i] as number;
    this.#take(position);
    this.#held = true;
  }

  /** Finds the first record not below `target` from the restart at `position` on. */
  #seekByKeys(position: number, target: Uint8Array): void {
    this.#position = position;
    this.#storedKeyLength = 0;
    while (this.#position < this.#entriesEnd) {
      this.#readEntry();
      if (this.compareKey(target) >= 0) {
        this.#held = true;
        return;
      }
    }
  }

  #readEntry(): void {
    const at = this.#position;
    this.#readHeader(at);
    const { shared, unshared } = this.#header;
    if (shared > this.#storedKeyLength) throw this.damage(passesEnd);
    if (shared + unshared > this.key.length) this.#growKey(shared + unshared, shared);
    this.#take(at);
  }

  /** Makes the entry at `position`, whose header was read, the current one; `key` holds the bytes it shares. */
  #take(position: number): void {
    const { key, block } = this;
    const { shared, unshared, end, valueLength } = this.#header;
    if (unshared > 48) block.copy(key, shared, end, end + unshared);
    else for (let i = 0; i < unshared; i++) key[shared + i] = block[end + i] as number;
    this.#entryStart = position;
    this.#storedKeyLength = shared + unshared;
    this.keyLength = shared + unshared - internalTrailerLength;
    this.valueStart = end + unshared;
    this.valueEnd = this.valueStart + valueLength;
    this.#position = this.valueEnd;
  }

  #readHeader(position: number): void {
    const problem = this.#header.read(this.block, position, this.#entriesEnd);
    if (problem !== undefined) throw this.damage(problem);
  }

  #growKey(length: number, keep: number): void {
    const grown = Buffer.allocUnsafeSlow(2 * length);
    this.key.copy(grown, 0, 0, keep);
    this.key = grown;
    this.#space.key = grown;
  }
}
