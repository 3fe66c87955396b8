import { compareSlices } from '@svc/encoding';
import { sameIdentity } from '../format/identity.ts';
import type { RecordBudget } from './record-budget.ts';
import type { PackedChanges } from './packed-changes.ts';
import { Pace } from '../pace.ts';
import type { ApplyResult } from '../tree.ts';
import type { TreeCursor } from '../reading/tree-cursor.ts';
import type { TreeWriter } from './tree-writer.ts';

export interface ApplyInput {
  readonly base: TreeCursor;
  readonly baseId: string;
  readonly changes: PackedChanges;
  readonly writer: TreeWriter;
  readonly budget?: RecordBudget | undefined;
  /** Write the tree even when nothing changed. */
  readonly always?: boolean | undefined;
}

/** What copying a block counts for between pauses. */
export const recordsPerBlock = 8;

/** Merges sorted changes into a tree, reusing every range no change falls into. */
export async function applyChanges(input: ApplyInput): Promise<ApplyResult> {
  const { base, changes, writer, budget } = input;
  const pace = new Pace();
  let added = 0;
  let removed = 0;
  let changed = 0;

  const addChange = (): void => {
    writer.addRecord(
      changes.bytes,
      changes.keyStart,
      changes.keyEnd,
      changes.bytes,
      changes.valueStart,
      changes.valueEnd,
    );
  };

  /** How the base record that copying stopped at compares with the current change. */
  let order = 0;

  const blockIsBelow = (): boolean =>
    !changes.live || blockIsBelowKey(base, changes.bytes, changes.keyStart, changes.keyEnd);

  /** Copies base records below the current change (all of them without one); false when it stopped for a pause. */
  const copyBase = (): boolean => {
    const { records } = base;
    for (const { range } = base; base.state === 'record' && base.range === range;) {
      if (records.startsBlock && blockIsBelow() && copyBlock(base, writer)) {
        if (writer.mustWait || pace.due(recordsPerBlock)) return false;
        continue;
      }
      if (changes.live) {
        order = compareSlices(
          records.key,
          0,
          records.keyLength,
          changes.bytes,
          changes.keyStart,
          changes.keyEnd,
        );
        if (order >= 0) return true;
      }
      copyRecord(base, writer);
      base.nextRecord();
      if (writer.mustWait || pace.due()) return false;
    }
    return true;
  };

  let more = changes.next();
  if (typeof more !== 'boolean') await more;
  while (changes.live && base.state !== 'end') {
    if (base.state === 'header') {
      if (base.meta.compareMax(base.range, changes.bytes, changes.keyStart, changes.keyEnd) < 0) {
        writer.addRange(base.meta, base.range);
        base.nextRange();
      } else {
        budget?.spend(base.meta.recordCount(base.range));
        await base.enter();
        resumeRange(base, writer, changes.bytes, changes.keyStart, changes.keyEnd);
      }
    } else if (!copyBase()) {
      await breathe(writer, pace);
      continue;
    } else if (base.state === 'record') {
      const { records } = base;
      if (order > 0) {
        if (!changes.isTombstone) {
          addChange();
          added++;
        }
      } else {
        if (changes.isTombstone) {
          removed++;
        } else if (
          sameIdentity(
            records.block,
            records.valueStart,
            records.valueEnd,
            changes.bytes,
            changes.valueStart,
            changes.valueEnd,
          )
        ) {
          copyRecord(base, writer);
        } else {
          addChange();
          changed++;
        }
        base.nextRecord();
      }
      more = changes.next();
      if (typeof more !== 'boolean') await more;
      if (writer.mustWait || pace.due()) await breathe(writer, pace);
    }
  }

  while (base.state !== 'end') {
    if (base.state === 'header') {
      writer.addRange(base.meta, base.range);
      base.nextRange();
    } else if (!copyBase()) {
      await breathe(writer, pace);
    }
  }
  while (changes.live) {
    let passed = 1;
    if (!changes.isTombstone) {
      const together = writer.addChanges(changes);
      if (together > 0) {
        passed = together;
      } else {
        addChange();
      }
      added += passed;
    }
    more = changes.next();
    if (typeof more !== 'boolean') await more;
    if (writer.mustWait || pace.due(passed)) await breathe(writer, pace);
  }

  if (added + removed + changed === 0 && input.always !== true) {
    await writer.abort();
    return { metaRangeId: input.baseId, added, removed, changed };
  }
  return { metaRangeId: await writer.finish(), added, removed, changed };
}

/** Adds the current record as it is. */
export function copyRecord(from: TreeCursor, writer: TreeWriter): void {
  const { records } = from;
  writer.addRecord(records.key, 0, records.keyLength, records.block, records.valueStart, records.valueEnd);
}

/** Every record of the current block is below `key[start, end)`. */
export function blockIsBelowKey(from: TreeCursor, key: Buffer, start: number, end: number): boolean {
  return from.table.index.isBelow(from.records.blockNumber, key, start, end);
}

/**
 * Adds the records of the block that the current one starts, in one go; without compressing the block again where
 * the writer would write the same one. False when the current record has to be added by itself.
 */
export function copyBlock(from: TreeCursor, writer: TreeWriter): boolean {
  if (!writer.addBlock(from.records)) return false;
  from.nextRecord();
  return true;
}

/** Passes what of the range just entered lies below the key and needs neither decoding nor hashing. */
export function resumeRange(
  from: TreeCursor,
  writer: TreeWriter,
  key: Buffer,
  keyStart: number,
  keyEnd: number,
): void {
  if (writer.isOpen || from.state !== 'record') return;
  const blocks = writer.resume(from.table, from.table.index.find(key, keyStart, keyEnd));
  if (blocks === 0) return;
  from.records.seekBlock(blocks);
  from.nextRecord();
}

export async function breathe(writer: TreeWriter, pace: Pace): Promise<void> {
  if (writer.mustWait) await writer.ready();
  await pace.pause();
}
