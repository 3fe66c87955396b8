import { compareSlices, decodeValue, encodeValue, rangeMessage } from '@svc/encoding';
import { CorruptTableError, type TableCursor } from '@svc/sstable';
import type { OpenTable } from './open-tables.ts';

/** One range as a metarange records it. */
export interface RangeInfo {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
}

const idLength = 64;

/** The ranges of a tree in key order, packed: two keys, an id and two numbers per range, no object for each. */
export class MetaRange {
  static readonly empty: MetaRange = new MetaRange([]);

  readonly count: number;
  /** Tables of this tree that are open in this thread, so that a lookup needs no second search. */
  readonly tables: (OpenTable | undefined)[] = [];
  readonly #bytes: Buffer;
  /** Per range: start of id, of min key, of max key; then one end. */
  readonly #starts: Uint32Array;
  readonly #counts: Float64Array;
  readonly #sizes: Float64Array;

  constructor(ranges: readonly RangeInfo[]) {
    this.count = ranges.length;
    this.#starts = new Uint32Array(3 * ranges.length + 1);
    this.#counts = new Float64Array(ranges.length);
    this.#sizes = new Float64Array(ranges.length);
    const parts: Buffer[] = [];
    let at = 0;
    for (const [i, range] of ranges.entries()) {
      const id = Buffer.from(range.id, 'latin1');
      if (id.length !== idLength) throw new CorruptTableError('a range id is not 64 characters long');
      parts.push(id, range.minKey, range.maxKey);
      this.#starts[3 * i] = at;
      this.#starts[3 * i + 1] = at + idLength;
      this.#starts[3 * i + 2] = at + idLength + range.minKey.length;
      at += idLength + range.minKey.length + range.maxKey.length;
      this.#counts[i] = range.count;
      this.#sizes[i] = range.estimatedSize;
    }
    this.#starts[3 * ranges.length] = at;
    this.#bytes = Buffer.concat(parts, at);
  }

  get weight(): number {
    return this.#bytes.length + this.count * 40 + 200;
  }

  id(range: number): string {
    const start = this.#start(3 * range);
    return this.#bytes.toString('latin1', start, start + idLength);
  }

  minKey(range: number): Buffer {
    return this.#bytes.subarray(this.#start(3 * range + 1), this.#start(3 * range + 2));
  }

  maxKey(range: number): Buffer {
    return this.#bytes.subarray(this.#start(3 * range + 2), this.#start(3 * range + 3));
  }

  recordCount(range: number): number {
    return this.#counts[range] as number;
  }

  info(range: number): RangeInfo {
    return {
      id: this.id(range),
      minKey: this.minKey(range),
      maxKey: this.maxKey(range),
      count: this.recordCount(range),
      estimatedSize: this.#sizes[range] as number,
    };
  }

  compareMin(range: number, key: Uint8Array, keyEnd: number = key.length): number {
    return compareSlices(this.#bytes, this.#start(3 * range + 1), this.#start(3 * range + 2), key, 0, keyEnd);
  }

  compareMax(range: number, key: Uint8Array, keyStart = 0, keyEnd: number = key.length): number {
    return compareSlices(
      this.#bytes,
      this.#start(3 * range + 2),
      this.#start(3 * range + 3),
      key,
      keyStart,
      keyEnd,
    );
  }

  sameId(range: number, other: MetaRange, otherRange: number): boolean {
    const start = this.#start(3 * range);
    const otherStart = other.#start(3 * otherRange);
    return (
      compareSlices(this.#bytes, start, start + idLength, other.#bytes, otherStart, otherStart + idLength) ===
      0
    );
  }

  /** The first range whose max key is >= `key`; `count` when there is none. */
  find(key: Uint8Array, keyEnd: number = key.length): number {
    const bytes = this.#bytes;
    const starts = this.#starts;
    // What the bounds have in common with the key, everything between them has too.
    let matchedLow = 0;
    let matchedHigh = 0;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const from = starts[3 * middle + 2] as number;
      const own = (starts[3 * middle + 3] as number) - from;
      const shorter = own < keyEnd ? own : keyEnd;
      let i = matchedLow < matchedHigh ? matchedLow : matchedHigh;
      while (i < shorter && bytes[from + i] === key[i]) i++;
      if (i < shorter ? (bytes[from + i] as number) < (key[i] as number) : own < keyEnd) {
        low = middle + 1;
        matchedLow = i;
      } else {
        high = middle;
        matchedHigh = i;
      }
    }
    return low;
  }

  #start(index: number): number {
    return this.#starts[index] as number;
  }
}

/** Reads all records of a metarange table. */
export function readMetaRange(cursor: TableCursor): MetaRange {
  const ranges: RangeInfo[] = [];
  while (cursor.next()) {
    const { identity, data } = decodeValue(cursor.block.subarray(cursor.valueStart, cursor.valueEnd));
    const range = rangeMessage.decode(data);
    ranges.push({
      id: identity.toString('latin1'),
      minKey: Buffer.from(range.minKey),
      maxKey: Buffer.from(range.maxKey),
      count: range.count,
      estimatedSize: range.estimatedSize,
    });
  }
  return new MetaRange(ranges);
}

/** The value of a range's record in its metarange; the key is the range's max key. */
export function encodeRangeValue(range: RangeInfo): Buffer {
  const { minKey, maxKey, estimatedSize, count } = range;
  return encodeValue(
    Buffer.from(range.id, 'latin1'),
    rangeMessage.encode({ minKey, maxKey, estimatedSize, count }),
  );
}
