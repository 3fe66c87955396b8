import type { ValueScan } from '@svc/sstable';
import { AddressHash } from './address-hash.ts';
import type { MarkKernel } from './mark-kernel.ts';
import { ValueAddress } from './value-address.ts';

/** Marks of a range, two numbers each, and the bytes of all its objects. */
export interface RangeMarks {
  readonly marks: Uint32Array<ArrayBuffer>;
  readonly bytes: number;
}

/** Marks one behind the other, two numbers each. */
export class MarkList {
  readonly #hash = new AddressHash();
  readonly #address = new ValueAddress();
  #numbers: Uint32Array<ArrayBuffer>;
  #length = 0;
  /** Values that were shown, and the bytes of their objects. */
  values = 0;
  bytes = 0;

  constructor(capacity = 1024) {
    this.#numbers = new Uint32Array(2 * Math.max(8, capacity));
  }

  /** Takes the mark of a stored value, if its address has one. */
  readonly addValue = (bytes: Buffer, start: number, end: number): void => {
    this.values += 1;
    const address = this.#address;
    address.read(bytes, start, end);
    this.bytes += address.size;
    if (!this.#hash.read(bytes, address.start, address.end)) return;
    this.add(this.#hash.high, this.#hash.low);
  };

  /** Takes the marks of all values of a table. */
  addTable(table: ValueScan, kernel: MarkKernel): void {
    const take = (): void =>
      kernel.take((marks, values, bytes) => {
        this.values += values;
        this.bytes += bytes;
        this.#reserve(marks.length);
        this.#numbers.set(marks, this.#length);
        this.#length += marks.length;
      });
    while (table.next()) {
      if (kernel.add(table.bytes, table.entriesEnd)) continue;
      // In the order of the table, so that lists of its states run side by side.
      take();
      table.visit(this.addValue);
    }
    take();
  }

  add(high: number, low: number): void {
    this.#reserve(2);
    this.#numbers[this.#length] = high;
    this.#numbers[this.#length + 1] = low;
    this.#length += 2;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#numbers.length) return;
    const grown = new Uint32Array(Math.max(this.#length + more, 2 * this.#length));
    grown.set(this.#numbers);
    this.#numbers = grown;
  }

  get numbers(): Uint32Array<ArrayBuffer> {
    return this.#numbers.subarray(0, this.#length);
  }
}

/** How far ahead the same mark is looked for where two lists part. */
const nearby = 16;
/** After so many marks in a row that are not nearby, all of the others are looked through. */
const lost = 64;

/**
 * The marks of `own` that the `others` do not have; some that they have may be among them. All are in the order of keys,
 * so the lists mostly run side by side.
 */
export function freshMarks(
  own: Uint32Array<ArrayBuffer>,
  others: readonly Uint32Array[],
): Uint32Array<ArrayBuffer> {
  const before = joined(others);
  if (before.length === 0) return own;
  const fresh = new MarkList();
  let beside = 0;
  let row = 0;
  let known: KnownMarks | undefined;
  for (let at = 0; at < own.length; at += 2) {
    const high = own[at] as number;
    const low = own[at + 1] as number;
    let found = beside;
    const end = Math.min(before.length, beside + 2 * nearby);
    while (found < end && (before[found] !== high || before[found + 1] !== low)) found += 2;
    if (found < end) {
      beside = found + 2;
      row = 0;
      continue;
    }
    row += 1;
    if (row > lost) known ??= new KnownMarks(before);
    if (known?.has(high, low) !== true) fresh.add(high, low);
  }
  return fresh.numbers;
}

/** One list behind the other. */
export function joined(lists: readonly Uint32Array[]): Uint32Array {
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return only;
  const all = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

class KnownMarks {
  readonly #slots: Uint32Array;
  readonly #mask: number;

  constructor(marks: Uint32Array) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(8, marks.length)));
    this.#mask = size - 1;
    this.#slots = new Uint32Array(2 * size);
    for (let at = 0; at < marks.length; at += 2) {
      const slot = this.#find(marks[at] as number, marks[at + 1] as number);
      this.#slots[slot] = marks[at] as number;
      this.#slots[slot + 1] = marks[at + 1] as number;
    }
  }

  has(high: number, low: number): boolean {
    const slot = this.#find(high, low);
    return this.#slots[slot] === high && this.#slots[slot + 1] === low;
  }

  #find(high: number, low: number): number {
    const slots = this.#slots;
    for (let at = (low >>> 1) & this.#mask; ; at = (at + 1) & this.#mask) {
      const [foundHigh, foundLow] = [slots[2 * at] as number, slots[2 * at + 1] as number];
      if ((foundHigh === 0 && foundLow === 0) || (foundHigh === high && foundLow === low)) return 2 * at;
    }
  }
}
