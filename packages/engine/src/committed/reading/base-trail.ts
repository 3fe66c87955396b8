import { compareSlices } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { MetaRange } from '../format/meta-range.ts';
import type { TreeCursor } from './tree-cursor.ts';

/** The merge base, followed forwards behind the two sides. */
export class BaseTrail {
  readonly #cursor: TreeCursor;

  constructor(cursor: TreeCursor) {
    this.#cursor = cursor;
  }

  get meta(): MetaRange {
    return this.#cursor.meta;
  }

  /** The current record, or undefined when there is none at or after the key last moved to. */
  get records(): TableCursor | undefined {
    return this.#cursor.state === 'record' ? this.#cursor.records : undefined;
  }

  /** The first base range that overlaps a range of another tree. */
  rangeOverlapping(other: MetaRange, range: number): number | undefined {
    const first = this.meta.find(other.minKey(range));
    if (first >= this.meta.count || this.meta.compareMin(first, other.maxKey(range)) > 0) return undefined;
    return first;
  }

  /** Goes to the first record with key >= `key[0, keyLength)`, if it lies in the range that could hold the key. */
  moveTo(key: Buffer, keyLength: number): void | Promise<void> {
    const cursor = this.#cursor;
    if (cursor.state === 'end') return;
    if (cursor.meta.compareMax(cursor.range, key, 0, keyLength) < 0)
      cursor.seekRange(key.subarray(0, keyLength));
    // seekRange may have found the end.
    if ((cursor.state as string) === 'end') return;
    if (cursor.state === 'header') {
      if (cursor.meta.compareMin(cursor.range, key, keyLength) > 0) return;
      const target = Buffer.from(key.subarray(0, keyLength));
      const opening = cursor.open();
      if (opening !== undefined) return opening.then(() => cursor.toFirstRecord(target));
      cursor.toFirstRecord(target);
      return;
    }
    if (cursor.table.index.isBelow(cursor.records.blockNumber, key, 0, keyLength)) {
      cursor.seekRecord(key.subarray(0, keyLength));
      return;
    }
    while (cursor.state === 'record') {
      const { records } = cursor;
      if (compareSlices(records.key, 0, records.keyLength, key, 0, keyLength) >= 0) return;
      cursor.nextRecord();
    }
  }

  close(): void {
    this.#cursor.close();
  }
}
