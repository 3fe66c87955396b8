import type {
  ChangeIterator,
  DiffIterator,
  DiffType,
  RecordIterator,
  TreeRecord,
} from '../committed/tree.ts';

const noBytes: Buffer = Buffer.alloc(0);

/** One key of the result; undefined when both sides are alike there. */
export interface DiffVerdict {
  readonly type: DiffType;
  readonly record: TreeRecord;
}

/** A change of a key on one side: `undefined` not staged, `null` deleted. */
export type StagedSide = TreeRecord | null | undefined;

/** Judges a key that is staged on a side; looks up in the trees what the staging does not say. */
export type JudgeKey = (key: Buffer, left: StagedSide, right: StagedSide) => Promise<DiffVerdict | undefined>;

interface Side {
  readonly changes: ChangeIterator;
  state: 'wanted' | 'record' | 'ended';
}

/** A diff of two trees corrected by what is staged over them: keys in an overlay are judged one by one. */
export class OverlaidDiff implements DiffIterator {
  readonly #trees: DiffIterator;
  readonly #left: Side | undefined;
  readonly #right: Side | undefined;
  readonly #judge: JudgeKey;
  #treesState: 'wanted' | 'record' | 'ended' = 'wanted';
  #shown: { type: DiffType; key: Buffer; identity: Buffer; data: Buffer } = {
    type: 'added',
    key: noBytes,
    identity: noBytes,
    data: noBytes,
  };

  constructor(
    trees: DiffIterator,
    left: ChangeIterator | undefined,
    right: ChangeIterator | undefined,
    judge: JudgeKey,
  ) {
    this.#trees = trees;
    this.#left = left === undefined ? undefined : { changes: left, state: 'wanted' };
    this.#right = right === undefined ? undefined : { changes: right, state: 'wanted' };
    this.#judge = judge;
  }

  get type(): DiffType {
    return this.#shown.type;
  }

  get key(): Buffer {
    return this.#shown.key;
  }

  get identity(): Buffer {
    return this.#shown.identity;
  }

  get data(): Buffer {
    return this.#shown.data;
  }

  async next(): Promise<boolean> {
    for (;;) {
      if (this.#treesState === 'wanted') this.#treesState = (await this.#trees.next()) ? 'record' : 'ended';
      await fill(this.#left);
      await fill(this.#right);
      const key = this.#smallestKey();
      if (key === undefined) return false;
      const left = take(this.#left, key);
      const right = take(this.#right, key);
      const inTrees = this.#treesState === 'record' && this.#trees.key.equals(key);
      if (inTrees) this.#treesState = 'wanted';
      if (left === undefined && right === undefined) {
        this.#shown = { type: this.#trees.type, ...copyRecord(this.#trees) };
        return true;
      }
      const verdict = await this.#judge(key, left, right);
      if (verdict === undefined) continue;
      this.#shown = { type: verdict.type, ...verdict.record, key };
      return true;
    }
  }

  seek(key: Uint8Array): void {
    this.#trees.seek(key);
    this.#treesState = 'wanted';
    for (const side of [this.#left, this.#right]) {
      if (side === undefined) continue;
      side.changes.seek(key);
      side.state = 'wanted';
    }
  }

  close(): void {
    this.#trees.close();
    this.#left?.changes.close();
    this.#right?.changes.close();
  }

  #smallestKey(): Buffer | undefined {
    let smallest: Buffer | undefined;
    const keys = [
      this.#treesState === 'record' ? this.#trees.key : undefined,
      this.#left?.state === 'record' ? this.#left.changes.key : undefined,
      this.#right?.state === 'record' ? this.#right.changes.key : undefined,
    ];
    for (const key of keys) {
      if (key !== undefined && (smallest === undefined || Buffer.compare(key, smallest) < 0)) smallest = key;
    }
    return smallest === undefined ? undefined : Buffer.from(smallest);
  }
}

async function fill(side: Side | undefined): Promise<void> {
  if (side?.state === 'wanted') side.state = (await side.changes.next()) ? 'record' : 'ended';
}

function take(side: Side | undefined, key: Buffer): StagedSide {
  if (side?.state !== 'record' || !side.changes.key.equals(key)) return undefined;
  side.state = 'wanted';
  return side.changes.identity.length === 0 ? null : copyRecord(side.changes);
}

function copyRecord(record: RecordIterator): TreeRecord {
  return {
    key: Buffer.from(record.key),
    identity: Buffer.from(record.identity),
    data: Buffer.from(record.data),
  };
}

/** Two-dot: what turns left into right. */
export function judgeTwoDot(
  left: TreeRecord | undefined,
  right: TreeRecord | undefined,
): DiffVerdict | undefined {
  if (left === undefined) return right === undefined ? undefined : { type: 'added', record: right };
  if (right === undefined) return { type: 'removed', record: left };
  return left.identity.equals(right.identity) ? undefined : { type: 'changed', record: right };
}

/** Three-dot: what merging source into destination would do to a key. */
export function judgeThreeDot(
  base: TreeRecord | undefined,
  source: TreeRecord | undefined,
  destination: TreeRecord | undefined,
): DiffVerdict | undefined {
  if (same(source, destination) || same(source, base)) return undefined;
  if (!same(destination, base)) {
    const shown = source ?? destination;
    return shown === undefined ? undefined : { type: 'conflict', record: shown };
  }
  if (source !== undefined) return { type: base === undefined ? 'added' : 'changed', record: source };
  return destination === undefined ? undefined : { type: 'removed', record: destination };
}

function same(left: TreeRecord | undefined, right: TreeRecord | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.identity.equals(right.identity);
}
