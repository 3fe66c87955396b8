import { compareSlices } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import { breathe, copyRecord, recordsPerBlock } from './apply.ts';
import type { BaseTrail } from '../reading/base-trail.ts';
import { countEqualBlocks, nextBlocksAreEqual } from '../reading/equal-blocks.ts';
import { sameRecordIdentity } from '../format/identity.ts';
import { Pace } from '../pace.ts';
import { type ConflictPolicy, takeOfStrategy } from './conflict-policy.ts';
import type { RecordBudget } from './record-budget.ts';
import type { MergeResult, MergeStrategy } from '../tree.ts';
import { compareRecords, type TreeCursor } from '../reading/tree-cursor.ts';
import type { TreeWriter } from './tree-writer.ts';

export interface MergeWalk {
  readonly source: TreeCursor;
  readonly destination: TreeCursor;
  readonly base: BaseTrail;
  readonly writer: TreeWriter;
  readonly strategy: MergeStrategy;
  /** Settles conflicts instead of the strategy. */
  readonly policy?: ConflictPolicy | undefined;
  readonly budget?: RecordBudget | undefined;
  /** Told the result's id while it is being stored. */
  readonly whileStoring?: ((metaRangeId: string) => void) | undefined;
}

/** Which side a record or range comes from. */
type Side = 'source' | 'destination';

/** Nothing more to say, a conflict, or something to wait for before the same step is tried again. */
type Step = MergeResult | Promise<MergeResult | void | undefined> | undefined;

/**
 * The three-way merge of trees, range by range where ranges allow it. The order in which ranges are reused or
 * entered is part of the format: it decides where new ranges end, and so the result's id.
 */
export async function mergeRanges(walk: MergeWalk): Promise<MergeResult> {
  const { source, destination, writer } = walk;
  const pace = new Pace();
  while (source.state !== 'end' || destination.state !== 'end') {
    const step = mergeStep(walk);
    const outcome = step instanceof Promise ? await step : step;
    if (outcome !== undefined) return outcome;
    if (writer.mustWait || pace.due()) await breathe(writer, pace);
  }
  const { policy } = walk;
  if (policy === undefined) return { kind: 'merged', metaRangeId: await writer.finish(walk.whileStoring) };
  let unused = policy.unusedPath();
  for (; unused instanceof Promise; unused = policy.unusedPath()) await unused;
  if (unused !== undefined) return { kind: 'unfit', key: unused };
  return { kind: 'merged', metaRangeId: await writer.finish(walk.whileStoring), resolved: policy.counts };
}

function mergeStep(walk: MergeWalk): Step {
  const { source, destination } = walk;
  if (source.state === 'record' && destination.state === 'record') return mergeRecords(walk);
  if (source.state === 'record') return mergeRecordWith(walk, 'source');
  if (destination.state === 'record') return mergeRecordWith(walk, 'destination');
  if (source.state === 'header' && destination.state === 'header') return mergeHeaders(walk);
  return passRange(walk, source.state === 'header' ? source : destination);
}

function mergeHeaders(walk: MergeWalk): Step {
  const { source, destination, base, writer } = walk;
  const s = source.range;
  const d = destination.range;
  if (source.meta.sameId(s, destination.meta, d)) {
    addRange(writer, source);
    destination.nextRange();
    return undefined;
  }
  const sameBounds =
    source.meta.compareMin(s, destination.meta.minKey(d)) === 0 &&
    source.meta.compareMax(s, destination.meta.maxKey(d)) === 0;
  if (sameBounds) {
    const overlapping = base.rangeOverlapping(source.meta, s);
    if (overlapping !== undefined && base.meta.sameId(overlapping, source.meta, s)) {
      source.nextRange();
      addRange(writer, destination);
      return undefined;
    }
    if (overlapping !== undefined && base.meta.sameId(overlapping, destination.meta, d)) {
      destination.nextRange();
      addRange(writer, source);
      return undefined;
    }
  } else if (source.meta.compareMax(s, destination.meta.minKey(d)) < 0) {
    if (passWhole(walk, source)) return undefined;
  } else if (destination.meta.compareMax(d, source.meta.minKey(s)) < 0 && passWhole(walk, destination)) {
    return undefined;
  }
  return enterBoth(walk);
}

/** A range no range of the other side overlaps: reused when the base has none there, dropped when it equals the base's. */
function passWhole(walk: MergeWalk, side: TreeCursor): boolean {
  const overlapping = walk.base.rangeOverlapping(side.meta, side.range);
  if (overlapping === undefined) {
    addRange(walk.writer, side);
    return true;
  }
  if (!walk.base.meta.sameId(overlapping, side.meta, side.range)) return false;
  side.nextRange();
  return true;
}

function passRange(walk: MergeWalk, side: TreeCursor): Promise<void> | undefined {
  return passWhole(walk, side) ? undefined : enter(walk, side);
}

/** `side` is at a record, the other one at a range's header or at its end. */
function mergeRecordWith(walk: MergeWalk, name: Side): Step {
  const side = walk[name];
  const other = name === 'source' ? walk.destination : walk.source;
  const { key, keyLength } = side.records;
  if (other.state === 'end' || other.meta.compareMin(other.range, key, keyLength) > 0) {
    return takeAlone(walk, name);
  }
  if (other.meta.compareMax(other.range, key, 0, keyLength) < 0 && passWhole(walk, other)) return undefined;
  return enter(walk, other);
}

function mergeRecords(walk: MergeWalk): Step {
  const { source, destination, writer } = walk;
  const order = compareRecords(source.records, destination.records);
  if (order !== 0) return takeAlone(walk, order < 0 ? 'source' : 'destination');

  if (sameRecordIdentity(source.records, destination.records)) {
    copyRecord(source, writer);
  } else {
    const base = baseRecord(walk, source.records);
    if (base instanceof Promise) return base;
    if (base !== undefined && sameRecordIdentity(base, source.records)) copyRecord(destination, writer);
    else if (base !== undefined && sameRecordIdentity(base, destination.records)) copyRecord(source, writer);
    else {
      const refused = settleConflict(walk, source.records, { base, source, destination });
      if (refused !== undefined) return refused;
    }
  }
  return moveBoth(walk);
}

/** Both current records are dealt with. */
function moveBoth(walk: MergeWalk): Promise<void> | undefined {
  const { source, destination } = walk;
  if (nextBlocksAreEqual(source, destination)) return copyEqualBlocks(walk);
  source.nextRecord();
  destination.nextRecord();
  return undefined;
}

/** Takes over the blocks that both sides store with the same bytes: whatever the base has there, the sides agree. */
async function copyEqualBlocks(walk: MergeWalk): Promise<void> {
  const { source, destination, writer } = walk;
  const pace = new Pace();
  do {
    const { records } = source;
    if (!records.next()) throw records.damage('it holds fewer records than its metarange says');
    const added = writer.addBlock(records);
    if (!added || !records.endsBlock) {
      const key = Buffer.from(records.key.subarray(0, records.keyLength));
      destination.seekRecord(key);
      if (!added) return;
      break;
    }
    // Its bytes are the source's, which were checked: there is no need to decode them.
    destination.records.seekBlock(destination.records.nextBlock + 1);
    if (writer.mustWait || pace.due(recordsPerBlock)) await breathe(writer, pace);
  } while (nextBlocksAreEqual(source, destination));
  source.nextRecord();
  destination.nextRecord();
}

/** The record has no counterpart on the other side. */
function takeAlone(walk: MergeWalk, name: Side): Step {
  const side = walk[name];
  const base = baseRecord(walk, side.records);
  if (base instanceof Promise) return base;
  if (base === undefined) {
    copyRecord(side, walk.writer);
  } else if (!sameRecordIdentity(base, side.records)) {
    const refused = settleConflict(walk, side.records, { base, [name]: side });
    if (refused !== undefined) return refused;
  }
  side.nextRecord();
  return undefined;
}

interface ConflictSides {
  readonly base?: TableCursor | undefined;
  readonly source?: TreeCursor | undefined;
  readonly destination?: TreeCursor | undefined;
}

/** Adds the record that a conflict is settled with, if it is one; the sides stay where they are. */
function settleConflict(walk: MergeWalk, at: TableCursor, sides: ConflictSides): Step {
  const { writer, policy } = walk;
  const { base, source, destination } = sides;
  const settled =
    policy === undefined
      ? takeOfStrategy(walk.strategy)
      : policy.settle(at.key.subarray(0, at.keyLength), base, source?.records, destination?.records);
  if (settled instanceof Promise) return settled;
  if (settled === 'unresolved') return refusedAt('conflict', at);
  if (settled === 'unfit') return refusedAt('unfit', at);
  if (settled === 'source' && source !== undefined) copyRecord(source, writer);
  if (settled === 'destination' && destination !== undefined) copyRecord(destination, writer);
  if (settled === 'base' && base !== undefined) {
    writer.addRecord(at.key, 0, at.keyLength, base.block, base.valueStart, base.valueEnd);
  }
  if (settled === 'object' && policy !== undefined) {
    const { bytes, start, end } = policy.value;
    writer.addRecord(at.key, 0, at.keyLength, bytes, start, end);
  }
  return undefined;
}

/** The base's record of the same key, never merely its next one. */
function baseRecord(walk: MergeWalk, record: TableCursor): TableCursor | Promise<void> | undefined {
  const moved = walk.base.moveTo(record.key, record.keyLength);
  if (moved instanceof Promise) return moved;
  const base = walk.base.records;
  if (base === undefined) return undefined;
  return compareSlices(base.key, 0, base.keyLength, record.key, 0, record.keyLength) === 0 ? base : undefined;
}

function addRange(writer: TreeWriter, side: TreeCursor): void {
  writer.addRange(side.meta, side.range);
  side.nextRange();
}

async function enter(walk: MergeWalk, side: TreeCursor): Promise<void> {
  walk.budget?.spend(side.meta.recordCount(side.range));
  await side.enter();
}

/** Enters two different ranges; what they begin with in common is taken over without being decoded where possible. */
async function enterBoth(walk: MergeWalk): Promise<void> {
  const { source, destination, writer } = walk;
  walk.budget?.spend(source.meta.recordCount(source.range));
  walk.budget?.spend(destination.meta.recordCount(destination.range));
  await source.open();
  await destination.open();
  const equal = countEqualBlocks(source, destination);
  if (equal === 0) {
    source.toFirstRecord();
    destination.toFirstRecord();
    return;
  }
  const resumed = writer.isOpen ? 0 : writer.resume(source.table, equal);
  source.records.seekBlock(resumed);
  destination.records.seekBlock(resumed);
  await moveBoth(walk);
}

function refusedAt(kind: 'conflict' | 'unfit', record: TableCursor): MergeResult {
  return { kind, key: Buffer.from(record.key.subarray(0, record.keyLength)) };
}
