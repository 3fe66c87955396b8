import { commonPrefixLength, compareSlices, VarintReader } from '@svc/encoding';
import { readEntries } from './block-codec.ts';
import { CorruptTableError } from './corrupt-table-error.ts';
import { type BlockHandle, blockTrailerLength, internalTrailerLength, readHandle } from './table-format.ts';

/** The separators and places of all data blocks of a table, packed. */
export class BlockIndex {
  readonly count: number;
  readonly #keys: Buffer;
  readonly #keyEnds: Uint32Array;
  readonly #offsets: Float64Array;
  readonly #lengths: Uint32Array;
  /** Length of what all separators start with. */
  readonly #common: number;

  constructor(entries: readonly { separator: Uint8Array; handle: BlockHandle }[]) {
    this.count = entries.length;
    this.#keys = Buffer.concat(entries.map((entry) => entry.separator));
    this.#keyEnds = new Uint32Array(entries.length);
    this.#offsets = new Float64Array(entries.length);
    this.#lengths = new Uint32Array(entries.length);
    let keyEnd = 0;
    for (const [i, { separator, handle }] of entries.entries()) {
      keyEnd += separator.length;
      this.#keyEnds[i] = keyEnd;
      this.#offsets[i] = handle.offset;
      this.#lengths[i] = handle.length;
    }
    const first = entries[0]?.separator;
    const last = entries.at(-1)?.separator;
    this.#common = first === undefined || last === undefined ? 0 : commonPrefixLength(first, last);
  }

  /** Bytes held in memory. */
  get weight(): number {
    return this.#keys.length + this.count * 16;
  }

  offset(block: number): number {
    return this.#offsets[block] as number;
  }

  /** Stored length without trailer. */
  length(block: number): number {
    return this.#lengths[block] as number;
  }

  /** True when every key of `block` is below `key[start, end)`. */
  isBelow(block: number, key: Uint8Array, start: number, end: number): boolean {
    const from = block === 0 ? 0 : (this.#keyEnds[block - 1] as number);
    return compareSlices(this.#keys, from, this.#keyEnds[block] as number, key, start, end) < 0;
  }

  /** The first block that may hold `key` or a greater key; `count` when there is none. */
  find(key: Uint8Array): number {
    const keys = this.#keys;
    const ends = this.#keyEnds;
    const common = this.#common;
    // All separators start alike, so those bytes are compared once.
    const order = compareSlices(key, 0, Math.min(key.length, common), keys, 0, common);
    if (order !== 0) return order < 0 ? 0 : this.count;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const start = (middle === 0 ? 0 : (ends[middle - 1] as number)) + common;
      if (compareSlices(keys, start, ends[middle] as number, key, common, key.length) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Decodes one index block. Blocks must follow each other, which bounds the work a hostile index can cause. */
export function readIndexEntries(
  body: Buffer,
  limit: number,
  notBefore: number,
): { separator: Buffer; handle: BlockHandle }[] {
  let previousEnd = notBefore;
  return readEntries(body).map(({ key, value }) => {
    if (key.length < internalTrailerLength) throw new CorruptTableError('an index key is too short');
    const handle = readHandle(new VarintReader(value), limit);
    if (handle.offset < previousEnd) throw new CorruptTableError('the index names overlapping blocks');
    previousEnd = handle.offset + handle.length + blockTrailerLength;
    return { separator: key.subarray(0, key.length - internalTrailerLength), handle };
  });
}
