import { compareSlices, decodeValue, encodeValue, type RangeData, rangeMessage } from '@svc/encoding';
import { CorruptTableError, type TableCursor } from '@svc/sstable';

/** An open table, as lookups use it. */
export interface LookupTable {
  /** It may be closed: open another. */
  readonly isRetired: boolean;
  find<Found>(key: Buffer, use: (cursor: TableCursor, key: Buffer) => Found): Found | undefined;
}

/** What a metarange tells of a range. */
interface RangeInfo {
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
}

/** A range's record in a metarange. */
export interface RangeRecord {
  /** The key of the record. */
  readonly maxKey: Buffer;
  readonly value: Buffer;
}

const idLength = 64;
/** Parts of a range, one behind the other. */
const fields = 4;

/** The ranges of a tree in key order, packed: no object for each. */
export class MetaRange {
  static readonly empty: MetaRange = new MetaRange([]);

  readonly count: number;
  /** Tables of this tree that were open in this thread, so that a lookup needs no second search; some may be retired. */
  readonly tables: (LookupTable | undefined)[] = [];
  readonly #bytes: Buffer;
  /** Per range: start of value, of id, of min key, of max key; then one end. */
  readonly #starts: Uint32Array;
  readonly #counts: Float64Array;

  /** From the values of the ranges' records. */
  constructor(values: readonly Buffer[]) {
    this.count = values.length;
    this.#starts = new Uint32Array(fields * values.length + 1);
    this.#counts = new Float64Array(values.length);
    const parts: Buffer[] = [];
    let at = 0;
    for (const [i, value] of values.entries()) {
      const { identity, minKey, maxKey, count } = decodeRangeValue(value);
      parts.push(value, identity, minKey, maxKey);
      const start = fields * i;
      this.#starts[start] = at;
      this.#starts[start + 1] = at += value.length;
      this.#starts[start + 2] = at += idLength;
      this.#starts[start + 3] = at += minKey.length;
      at += maxKey.length;
      this.#counts[i] = count;
    }
    this.#starts[fields * values.length] = at;
    this.#bytes = Buffer.concat(parts, at);
  }

  get weight(): number {
    return this.#bytes.length + this.count * 32 + 200;
  }

  id(range: number): string {
    const start = this.#start(fields * range + 1);
    return this.#bytes.toString('latin1', start, start + idLength);
  }

  minKey(range: number): Buffer {
    return this.#bytes.subarray(this.#start(fields * range + 2), this.#start(fields * range + 3));
  }

  maxKey(range: number): Buffer {
    return this.#bytes.subarray(this.#start(fields * range + 3), this.#start(fields * range + 4));
  }

  recordCount(range: number): number {
    return this.#counts[range] as number;
  }

  record(range: number): RangeRecord {
    const value = this.#bytes.subarray(this.#start(fields * range), this.#start(fields * range + 1));
    return { maxKey: this.maxKey(range), value };
  }

  compareMin(range: number, key: Uint8Array, keyEnd: number = key.length): number {
    const start = fields * range + 2;
    return compareSlices(this.#bytes, this.#start(start), this.#start(start + 1), key, 0, keyEnd);
  }

  compareMax(range: number, key: Uint8Array, keyStart = 0, keyEnd: number = key.length): number {
    const start = fields * range + 3;
    return compareSlices(this.#bytes, this.#start(start), this.#start(start + 1), key, keyStart, keyEnd);
  }

  sameId(range: number, other: MetaRange, otherRange: number): boolean {
    const start = this.#start(fields * range + 1);
    const otherStart = other.#start(fields * otherRange + 1);
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
      const from = starts[fields * middle + 3] as number;
      const own = (starts[fields * middle + 4] as number) - from;
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
  const values: Buffer[] = [];
  while (cursor.next()) values.push(Buffer.from(cursor.block.subarray(cursor.valueStart, cursor.valueEnd)));
  return new MetaRange(values);
}

/** What a record of a metarange tells of its range. */
export function decodeRangeValue(value: Buffer): RangeData & { readonly identity: Buffer } {
  try {
    const { identity, data } = decodeValue(value);
    if (identity.length !== idLength) throw new Error('a range id is not 64 characters long');
    return { identity, ...rangeMessage.decode(data) };
  } catch (error) {
    throw new CorruptTableError(`a record of a range is unreadable: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The value of a range's record in its metarange; the key is the range's max key. */
export function encodeRangeValue(range: RangeInfo): Buffer {
  const { minKey, maxKey, estimatedSize, count } = range;
  return encodeValue(
    Buffer.from(range.id, 'latin1'),
    rangeMessage.encode({ minKey, maxKey, estimatedSize, count }),
  );
}
