import { compareBytes, decodeValue, type RecordValue } from '@svc/encoding';
import { skipEqualBlocks } from './equal-blocks.ts';
import { sameIdentity, sameRecordIdentity } from '../format/identity.ts';
import type { MetaRange } from '../format/meta-range.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableLease } from '../store/open-tables.ts';
import { Pace } from '../pace.ts';
import { maxKnownKeys, type KnownDifferences } from './known-differences.ts';
import { compareRecords, TreeCursor } from './tree-cursor.ts';
import type { DiffIterator, DiffType } from '../tree.ts';
import type { TableStore } from '../store/table-store.ts';

export interface DiffInput {
  readonly store: TableStore;
  readonly namespace: Namespace;
  readonly left: MetaRange;
  readonly right: MetaRange;
  readonly differences: KnownDifferences;
}

/** What leads from one tree to another, in key order, with the values of both sides in stored form. */
export interface TreeChanges extends DiffIterator {
  /** For `changed` and `removed`. */
  readonly leftValue: Buffer;
  /** For `added` and `changed`. */
  readonly rightValue: Buffer;
}

/** Two ranges whose differences are known: those keys are looked up instead of comparing the ranges. */
interface ComparedPair {
  readonly keys: readonly Buffer[];
  readonly left: TableLease;
  readonly right: TableLease;
  next: number;
}

/** Two ranges being compared from their first to their last records, and the keys in which they differ so far. */
interface PairInWork {
  readonly leftId: string;
  readonly rightId: string;
  readonly keys: Buffer[];
}

/**
 * The differences from one tree to another in key order. Ranges with equal ids are passed without being opened,
 * blocks with equal bytes without being decoded.
 */
export class TreeDiff implements TreeChanges {
  readonly #store: TableStore;
  readonly #namespace: Namespace;
  readonly #left: TreeCursor;
  readonly #right: TreeCursor;
  readonly #pace = new Pace();
  /** Records below this key are passed over. */
  #floor: Buffer | undefined;
  readonly #differences: KnownDifferences;
  #compared: ComparedPair | undefined;
  #inWork: PairInWork | undefined;
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
    this.#differences = input.differences;
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

  get leftValue(): Buffer {
    if (this.#leftValue === undefined) {
      const { block, valueStart, valueEnd } = this.#left.records;
      this.#leftValue = block.subarray(valueStart, valueEnd);
    }
    return this.#leftValue;
  }

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
    this.#endCompared();
    this.#inWork = undefined;
    this.#shown = 'none';
    this.#floor = Buffer.from(key);
    this.#left.seekRange(key);
    this.#right.seekRange(key);
  }

  close(): void {
    this.#closed = true;
    this.#endCompared();
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
    try {
      return this.#advance();
    } catch (error) {
      this.#inWork = undefined;
      throw error;
    }
  }

  #advance(): boolean | Promise<void> {
    const left = this.#left;
    const right = this.#right;
    this.#moveOn();
    for (;;) {
      if (this.#compared !== undefined) {
        if (this.#nextCompared(this.#compared)) return true;
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
      if (left.state !== 'record' && right.state !== 'record') this.#keepDifferences();
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
      return this.#startPair();
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
    if (this.#inWork !== undefined && this.#inWork.keys.push(Buffer.from(this.key)) > maxKnownKeys)
      this.#inWork = undefined;
    return true;
  }

  #moveOn(): void {
    const shown = this.#shown;
    this.#shown = 'none';
    this.#key = undefined;
    this.#leftValue = undefined;
    this.#rightValue = undefined;
    this.#decoded = undefined;
    if (this.#compared !== undefined) return;
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
    this.#inWork = undefined;
    const opening = side.open();
    if (opening !== undefined) return opening.then(() => this.#toFirst(side));
    this.#toFirst(side);
    return undefined;
  }

  #toFirst(side: TreeCursor): void {
    if (this.#floor !== undefined && this.#isBelowFloor(side)) side.toFirstRecord(this.#floor);
    else side.toFirstRecord();
  }

  /** Records of the current range may be below the key the diff starts at. */
  #isBelowFloor(side: TreeCursor): boolean {
    return this.#floor !== undefined && side.meta.compareMin(side.range, this.#floor) < 0;
  }

  /** Two ranges overlap and differ. */
  #startPair(): Promise<void> | undefined {
    const left = this.#left;
    const right = this.#right;
    const alone = !overlapsNext(left, right) && !overlapsNext(right, left);
    const leftId = left.meta.id(left.range);
    const rightId = right.meta.id(right.range);
    const known = alone ? this.#differences.get(leftId, rightId) : undefined;
    if (known !== undefined) return this.#openCompared(known, leftId, rightId);
    const whole = !this.#isBelowFloor(left) && !this.#isBelowFloor(right);
    return this.#enterBoth(whole, alone && whole ? { leftId, rightId, keys: [] } : undefined);
  }

  /** Both ranges of a pair are behind. */
  #keepDifferences(): void {
    if (this.#inWork === undefined) return;
    const { leftId, rightId, keys } = this.#inWork;
    this.#inWork = undefined;
    this.#differences.set(leftId, rightId, keys);
  }

  /** With `pair` the differences are noted, from when both ranges are really being read. */
  #enterBoth(whole: boolean, pair: PairInWork | undefined): Promise<void> | undefined {
    const left = this.#left;
    const right = this.#right;
    const start = (): void => {
      if (whole && skipEqualBlocks(left, right)) {
        left.nextRecord();
        right.nextRecord();
      } else {
        this.#toFirst(left);
        this.#toFirst(right);
      }
      this.#inWork = pair;
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

  async #openCompared(keys: readonly Buffer[], leftId: string, rightId: string): Promise<void> {
    const left = await this.#store.openRange(this.#namespace, leftId);
    try {
      const right = await this.#store.openRange(this.#namespace, rightId);
      this.#compared = { keys, left, right, next: 0 };
    } catch (error) {
      left.release();
      throw error;
    }
    if (!this.#closed) return;
    this.#endCompared();
    throw new Error('the diff was closed while its ranges were opened');
  }

  #nextCompared(compared: ComparedPair): boolean {
    while (compared.next < compared.keys.length) {
      const key = compared.keys[compared.next++] as Buffer;
      if (this.#floor !== undefined && compareBytes(key, this.#floor) < 0) continue;
      const left = compared.left.get(key);
      const right = compared.right.get(key);
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
    this.#endCompared();
    this.#left.nextRange();
    this.#right.nextRange();
    return false;
  }

  #endCompared(): void {
    if (this.#compared === undefined) return;
    this.#compared.left.release();
    this.#compared.right.release();
    this.#compared = undefined;
  }

  #record(): RecordValue {
    this.#decoded ??= decodeValue(this.#type === 'removed' ? this.leftValue : this.rightValue);
    return this.#decoded;
  }
}

/** The range behind the current one of `side` begins before the current one of `other` ends. */
function overlapsNext(side: TreeCursor, other: TreeCursor): boolean {
  const next = side.range + 1;
  return next < side.meta.count && side.meta.compareMin(next, other.meta.maxKey(other.range)) <= 0;
}
