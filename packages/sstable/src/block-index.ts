import { compareSlices, VarintReader, WorkBuffer } from '@svc/encoding';
import { entriesEnd } from './block-codec.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { type BlockHandle, blockTrailerLength, internalTrailerLength, readHandle } from './table-format.ts';

/** As many bytes of a separator as a number holds exactly. */
const headLength = 6;

/** The separators and places of all data blocks of a table, packed. */
export class BlockIndex {
  readonly count: number;
  /** Separators as stored, each with its trailer. */
  readonly #keys: Buffer;
  readonly #keyEnds: Uint32Array;
  readonly #offsets: Float64Array;
  readonly #lengths: Uint32Array;
  /** How many bytes all separators begin with, and what follows of each, as a number. */
  readonly #common: number;
  readonly #heads: Float64Array;

  constructor(keys: Buffer, keyEnds: Uint32Array, offsets: Float64Array, lengths: Uint32Array) {
    this.count = keyEnds.length;
    this.#keys = keys;
    this.#keyEnds = keyEnds;
    this.#offsets = offsets;
    this.#lengths = lengths;
    this.#common = this.#commonLength();
    this.#heads = new Float64Array(this.count);
    for (let i = 0; i < this.count; i++)
      this.#heads[i] = headOf(keys, this.#keyStart(i) + this.#common, this.#keyEnd(i));
  }

  /** Bytes held in memory. */
  get weight(): number {
    return this.#keys.length + this.count * 24;
  }

  offset(block: number): number {
    return this.#offsets[block] as number;
  }

  /** Stored length without trailer. */
  length(block: number): number {
    return this.#lengths[block] as number;
  }

  /** The separator behind `block`, with its trailer. */
  storedSeparator(block: number): Buffer {
    return this.#keys.subarray(this.#keyStart(block), this.#keyEnds[block]);
  }

  handle(block: number): BlockHandle {
    return { offset: this.offset(block), length: this.length(block) };
  }

  /** True when every key of `block` is below `key[start, end)`. */
  isBelow(block: number, key: Uint8Array, start: number, end: number): boolean {
    return compareSlices(this.#keys, this.#keyStart(block), this.#keyEnd(block), key, start, end) < 0;
  }

  /** The first block that may hold `key[start, end)` or a greater key; `count` when there is none. */
  find(key: Uint8Array, start = 0, end: number = key.length): number {
    const keys = this.#keys;
    const common = this.#common;
    for (let i = 0; i < common; i++) {
      const byte = start + i < end ? (key[start + i] as number) : -1;
      if (byte !== keys[i]) return byte < (keys[i] as number) ? 0 : this.count;
    }
    // Numbers lie close together: in a large tree hardly any of this is in the processor's caches.
    const head = headOf(key, start + common, end);
    const low = this.#firstHead(head, 0);
    if (this.#heads[low] !== head) return low;
    return this.#findAmong(low, this.#firstHead(head + 1, low), key, start, end);
  }

  /** The first block from `from` on whose head is not below `head`. */
  #firstHead(head: number, from: number): number {
    const heads = this.#heads;
    let low = from;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((heads[middle] as number) < head) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Like `find`, among the blocks `[from, to)` whose heads are the key's. */
  #findAmong(from: number, to: number, key: Uint8Array, start: number, end: number): number {
    const keys = this.#keys;
    const ends = this.#keyEnds;
    const length = end - start;
    // What the bounds have in common with the key, everything between them has too.
    let matchedLow = this.#common;
    let matchedHigh = this.#common;
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const from = middle === 0 ? 0 : (ends[middle - 1] as number);
      const own = (ends[middle] as number) - internalTrailerLength - from;
      const shorter = own < length ? own : length;
      let i = matchedLow < matchedHigh ? matchedLow : matchedHigh;
      while (i < shorter && keys[from + i] === key[start + i]) i++;
      if (i < shorter ? (keys[from + i] as number) < (key[start + i] as number) : own < length) {
        low = middle + 1;
        matchedLow = i;
      } else {
        high = middle;
        matchedHigh = i;
      }
    }
    return low;
  }

  /** Separators are in order, so what the first and the last have in common all have. */
  #commonLength(): number {
    if (this.count === 0) return 0;
    const keys = this.#keys;
    const last = this.#keyStart(this.count - 1);
    const shorter = Math.min(this.#keyEnd(0), this.#keyEnd(this.count - 1) - last);
    let length = 0;
    while (length < shorter && keys[length] === keys[last + length]) length++;
    return length;
  }

  #keyStart(block: number): number {
    return block === 0 ? 0 : (this.#keyEnds[block - 1] as number);
  }

  #keyEnd(block: number): number {
    return (this.#keyEnds[block] as number) - internalTrailerLength;
  }
}

/** The bytes of `key[start, end)`, as many as count, in an order-preserving number; zeros where it ends early. */
function headOf(key: Uint8Array, start: number, end: number): number {
  let head = 0;
  for (let i = start; i < start + headLength; i++) head = head * 256 + (i < end ? (key[i] as number) : 0);
  return head;
}

/** Collects the entries of index blocks, thousands of them for a large table, without an object for each. */
export class BlockIndexReader {
  readonly #limit: number;
  readonly #keys = new WorkBuffer(4096);
  #keysLength = 0;
  readonly #keyEnds: number[] = [];
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  /** Where the next block must begin; undefined when it may be anywhere. */
  #next: number | undefined;

  /** The first block begins at `first`, if given; all must end before `limit`. */
  constructor(first: number | undefined, limit: number) {
    this.#next = first;
    this.#limit = limit;
  }

  /** Adds an index block. What it names must follow each other: none is left out, none is read twice. */
  add(body: Buffer): void {
    const end = entriesEnd(body, 0, body.length);
    const reader = new VarintReader(body, 0, end);
    let keyStart = 0;
    let keyLength = 0;
    while (reader.position < end) {
      const shared = reader.uvarint();
      const unshared = reader.uvarint();
      const valueLength = reader.uvarint();
      const at = reader.position;
      // A NaN fails these comparisons too.
      if (!(shared <= keyLength && unshared + valueLength <= end - at)) {
        throw new CorruptTableError('an entry passes the end of its block');
      }
      const length = shared + unshared;
      if (length < internalTrailerLength) throw new CorruptTableError('an index key is too short');
      const start = this.#keysLength;
      this.#keys.reserve(start + length, start);
      const keys = this.#keys.bytes;
      if (shared > 0) keys.copy(keys, start, keyStart, keyStart + shared);
      body.copy(keys, start + shared, at, at + unshared);
      keyStart = start;
      keyLength = length;
      this.#keysLength = start + length;

      reader.position = at + unshared;
      const handle = readHandle(reader, this.#limit);
      if (reader.position > at + unshared + valueLength) {
        throw new CorruptTableError('an entry passes the end of its block');
      }
      if (this.#next !== undefined && handle.offset !== this.#next) {
        throw new CorruptTableError('the blocks that the index names do not follow each other');
      }
      this.#next = handle.offset + handle.length + blockTrailerLength;
      this.#keyEnds.push(this.#keysLength);
      this.#offsets.push(handle.offset);
      this.#lengths.push(handle.length);
      reader.position = at + unshared + valueLength;
    }
  }

  finish(): BlockIndex {
    return new BlockIndex(
      Buffer.from(this.#keys.bytes.subarray(0, this.#keysLength)),
      Uint32Array.from(this.#keyEnds),
      Float64Array.from(this.#offsets),
      Uint32Array.from(this.#lengths),
    );
  }
}
