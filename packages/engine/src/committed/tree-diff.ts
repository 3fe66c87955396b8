import { changeListPath, readChangeList } from './change-list.ts';
import { compareBytes, decodeValue, type RecordValue } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import { sameIdentity, sameRecordIdentity } from './identity.ts';
import type { MetaRange } from './meta-range.ts';
import type { Namespace } from './namespace.ts';
import type { TableLease } from './open-tables.ts';
import { Pace } from './pace.ts';
import { compareRecords, TreeCursor } from './tree-cursor.ts';
import type { DiffIterator, DiffType } from './tree.ts';
import type { TableStore } from './table-store.ts';

export interface DiffInput {
  readonly store: TableStore;
  readonly namespace: Namespace;
  readonly left: MetaRange;
  readonly right: MetaRange;
}

/** Keys known to differ between two ranges, read one by one instead of both ranges. */
interface ListedPair {
  readonly keys: readonly Buffer[];
  readonly left: TableLease;
  readonly right: TableLease;
  next: number;
}

/**
 * The differences from one tree to another in key order. Ranges with equal ids are passed without being opened,
 * blocks with equal bytes without being decoded.
 */
export class TreeDiff implements DiffIterator {
  readonly #store: TableStore;
  readonly #namespace: Namespace;
  readonly #left: TreeCursor;
  readonly #right: TreeCursor;
  readonly #pace = new Pace();
  /** Records below this key are passed over. */
  #floor: Buffer | undefined;
  #listed: ListedPair | undefined;
  #closed = false;
  /** Which cursors hold the difference shown and move on at the next call. */
  #shown: 'none' | 'left' | 'right' | 'both' = 'none';
  #type: DiffType = 'added';
  #key: Buffer | undefined;
  #leftValue: Buffer | undefined;
  #rightValue: Buffer | undefined;
  #decoded: RecordValue | undefined;

  constructor(input: DiffInput, from?: Uint8Array) {
    this.#store = input.store;
    this.#namespace = input.namespace;
    this.#left = new TreeCursor(input.store, input.namespace, input.left);
    this.#right = new TreeCursor(input.store, input.namespace, input.right);
    if (from !== undefined) this.seek(from);
  }

  get type(): DiffType {
    return this.#type;
  }

  get key(): Buffer {
    if (this.#key === undefined) {
      const { key, keyLength } = (this.#shown === 'left' ? this.#left : this.#right).records;
      this.#key = key.subarray(0, keyLength);
    }
    return this.#key;
  }

  get identity(): Buffer {
    return this.#record().identity;
  }

  get data(): Buffer {
    return this.#record().data;
  }

  /** The left side's value in stored form; for `changed` and `removed`. */
  get leftValue(): Buffer {
    if (this.#leftValue === undefined) {
      const { block, valueStart, valueEnd } = this.#left.records;
      this.#leftValue = block.subarray(valueStart, valueEnd);
    }
    return this.#leftValue;
  }

  /** The right side's value in stored form; for `added` and `changed`. */
  get rightValue(): Buffer {
    if (this.#rightValue === undefined) {
      const { block, valueStart, valueEnd } = this.#right.records;
      this.#rightValue = block.subarray(valueStart, valueEnd);
    }
    return this.#rightValue;
  }

  next(): boolean | Promise<boolean> {
    if (this.#closed) throw new Error('the diff was closed');
    const step = this.#step();
    return typeof step === 'boolean' ? step : this.#continue(step);
  }

  seek(key: Uint8Array): void {
    this.#endListed();
    this.#shown = 'none';
    this.#floor = Buffer.from(key);
    this.#left.seekRange(key);
    this.#right.seekRange(key);
  }

  close(): void {
    this.#closed = true;
    this.#endListed();
    this.#shown = 'none';
    this.#left.close();
    this.#right.close();
  }

  async #continue(wait: Promise<void>): Promise<boolean> {
    await wait;
    for (;;) {
      const step = this.#step();
      if (typeof step === 'boolean') return step;
      await step;
    }
  }

  /** Goes to the next difference; a promise when something has to be waited for first. */
  #step(): boolean | Promise<void> {
    const left = this.#left;
    const right = this.#right;
    this.#moveOn();
    for (;;) {
      if (this.#listed !== undefined) {
        if (this.#nextListed(this.#listed)) return true;
        continue;
      }
      if (left.state === 'record' && right.state === 'record') {
        if (this.#pace.due()) return this.#pace.pause();
        const order = compareRecords(left.records, right.records);
        if (order < 0) return this.#show('left', 'removed');
        if (order > 0) return this.#show('right', 'added');
        if (!sameRecordIdentity(left.records, right.records)) return this.#show('both', 'changed');
        this.#moveBoth();
        continue;
      }
      if (left.state === 'end' && right.state === 'end') return false;
      const wait = this.#stepHeaders();
      if (wait !== undefined) return wait;
    }
  }

  /** At least one side is not at a record. True: a difference is shown. Undefined: look again. */
  #stepHeaders(): true | Promise<void> | undefined {
    const left = this.#left;
    const right = this.#right;
    if (left.state === 'header' && right.state === 'header') {
      if (left.meta.sameId(left.range, right.meta, right.range)) {
        left.nextRange();
        right.nextRange();
        return undefined;
      }
      if (left.meta.compareMax(left.range, right.meta.minKey(right.range)) < 0) return this.#enter(left);
      if (right.meta.compareMax(right.range, left.meta.minKey(left.range)) < 0) return this.#enter(right);
      return this.#openListed() ?? this.#enterBoth();
    }
    if (left.state === 'header') {
      if (right.state === 'record') {
        const { key, keyLength } = right.records;
        if (left.meta.compareMin(left.range, key, keyLength) > 0) return this.#show('right', 'added');
      }
      return this.#enter(left);
    }
    if (right.state === 'header') {
      if (left.state === 'record') {
        const { key, keyLength } = left.records;
        if (right.meta.compareMin(right.range, key, keyLength) > 0) return this.#show('left', 'removed');
      }
      return this.#enter(right);
    }
    return left.state === 'record' ? this.#show('left', 'removed') : this.#show('right', 'added');
  }

  #show(side: 'left' | 'right' | 'both', type: DiffType): true {
    this.#shown = side;
    this.#type = type;
    return true;
  }

  #moveOn(): void {
    const shown = this.#shown;
    this.#shown = 'none';
    this.#key = undefined;
    this.#leftValue = undefined;
    this.#rightValue = undefined;
    this.#decoded = undefined;
    if (this.#listed !== undefined) return;
    if (shown === 'both') this.#moveBoth();
    else if (shown === 'left') this.#left.nextRecord();
    else if (shown === 'right') this.#right.nextRecord();
  }

  #moveBoth(): void {
    skipEqualBlocks(this.#left, this.#right);
    this.#left.nextRecord();
    this.#right.nextRecord();
  }

  #enter(side: TreeCursor): Promise<void> | undefined {
    const opening = side.open();
    if (opening !== undefined) return opening.then(() => this.#toFirst(side));
    this.#toFirst(side);
    return undefined;
  }

  #toFirst(side: TreeCursor): void {
    if (this.#floor !== undefined && side.meta.compareMin(side.range, this.#floor) < 0)
      side.toFirstRecord(this.#floor);
    else side.toFirstRecord();
  }

  #enterBoth(): Promise<void> | undefined {
    const left = this.#left;
    const right = this.#right;
    const start = (): void => {
      if (this.#floor === undefined && skipEqualBlocks(left, right)) {
        left.nextRecord();
        right.nextRecord();
      } else {
        this.#toFirst(left);
        this.#toFirst(right);
      }
    };
    const openingLeft = left.open();
    // Should the right side fail at once, nobody waits for the left one.
    openingLeft?.catch(() => undefined);
    const openingRight = right.open();
    if (openingLeft !== undefined || openingRight !== undefined)
      return Promise.all([openingLeft, openingRight]).then(start);
    start();
    return undefined;
  }

  /** Uses the list that the writer of the right range left, when no other range overlaps the pair. */
  #openListed(): Promise<void> | undefined {
    const left = this.#left;
    const right = this.#right;
    if (
      right.range + 1 < right.meta.count &&
      right.meta.compareMin(right.range + 1, left.meta.maxKey(left.range)) <= 0
    ) {
      return undefined;
    }
    if (
      left.range + 1 < left.meta.count &&
      left.meta.compareMin(left.range + 1, right.meta.maxKey(right.range)) <= 0
    ) {
      return undefined;
    }
    const folder = this.#namespace.rangeFolder;
    const leftId = left.meta.id(left.range);
    const rightId = right.meta.id(right.range);
    const keys =
      readChangeList(changeListPath(folder, leftId, rightId)) ??
      readChangeList(changeListPath(folder, rightId, leftId));
    if (keys === undefined) return undefined;
    return this.#openPair(keys, leftId, rightId);
  }

  async #openPair(keys: readonly Buffer[], leftId: string, rightId: string): Promise<void> {
    const left = await this.#store.openRange(this.#namespace, leftId);
    try {
      const right = await this.#store.openRange(this.#namespace, rightId);
      this.#listed = { keys, left, right, next: 0 };
    } catch (error) {
      left.release();
      throw error;
    }
    if (!this.#closed) return;
    this.#endListed();
    throw new Error('the diff was closed while its ranges were opened');
  }

  #nextListed(listed: ListedPair): boolean {
    while (listed.next < listed.keys.length) {
      const key = listed.keys[listed.next++] as Buffer;
      if (this.#floor !== undefined && compareBytes(key, this.#floor) < 0) continue;
      const left = listed.left.get(key);
      const right = listed.right.get(key);
      if (left === undefined && right === undefined) continue;
      if (left !== undefined && right !== undefined) {
        if (sameIdentity(left, 0, left.length, right, 0, right.length)) continue;
      }
      this.#key = key;
      this.#leftValue = left;
      this.#rightValue = right;
      this.#type = left === undefined ? 'added' : right === undefined ? 'removed' : 'changed';
      return true;
    }
    this.#endListed();
    this.#left.nextRange();
    this.#right.nextRange();
    return false;
  }

  #endListed(): void {
    if (this.#listed === undefined) return;
    this.#listed.left.release();
    this.#listed.right.release();
    this.#listed = undefined;
  }

  #record(): RecordValue {
    this.#decoded ??= decodeValue(this.#type === 'removed' ? this.leftValue : this.rightValue);
    return this.#decoded;
  }
}

/**
 * When both cursors stand at a block's start, passes over the blocks that are stored with the same bytes. False when
 * there are none.
 */
export function skipEqualBlocks(left: TreeCursor, right: TreeCursor): boolean {
  const l = left.records;
  const r = right.records;
  if (!l.endsBlock || !r.endsBlock) return false;
  let i = l.nextBlock;
  let j = r.nextBlock;
  while (i < left.table.index.count && j < right.table.index.count && equalBlocks(left, l, i, right, r, j)) {
    i++;
    j++;
  }
  if (i === l.nextBlock) return false;
  l.seekBlock(i);
  r.seekBlock(j);
  return true;
}

function equalBlocks(
  left: TreeCursor,
  l: TableCursor,
  i: number,
  right: TreeCursor,
  r: TableCursor,
  j: number,
): boolean {
  if (left.table.index.length(i) !== right.table.index.length(j)) return false;
  return l.withStored(i, (a, aStart, aEnd) =>
    r.withStored(j, (b, bStart, bEnd) => a.compare(b, bStart, bEnd, aStart, aEnd) === 0),
  );
}
