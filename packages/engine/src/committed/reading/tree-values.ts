import type { TableCursor } from '@svc/sstable';
import { MetaRange } from '../format/meta-range.ts';
import { Pace } from '../pace.ts';
import type { Namespace } from '../store/namespace.ts';
import type { TableStore } from '../store/table-store.ts';
import type { ValueVisit } from '../tree.ts';
import { skipEqualBlocks } from './equal-blocks.ts';
import { compareRecords, TreeCursor } from './tree-cursor.ts';

/**
 * Shows the stored values of a tree, each at least once, without those of ranges that are known and without those that a
 * tree shown before holds byte for byte. So a history costs its changes, not its trees.
 */
export async function visitTree(
  store: TableStore,
  namespace: Namespace,
  { tree, shown }: { readonly tree: string; readonly shown: string },
  visit: ValueVisit,
): Promise<void> {
  const right = new TreeCursor(store, namespace, await store.metaRange(namespace, tree));
  const before = shown === '' ? MetaRange.empty : await store.metaRange(namespace, shown);
  const left = new TreeCursor(store, namespace, before);
  const pace = new Pace();
  try {
    while (right.state !== 'end') {
      if (pace.due()) await (visit.pause?.() ?? pace.pause());
      if (right.state === 'header') await enterRight(left, right, visit);
      else await step(left, right, visit);
    }
  } finally {
    left.close();
    right.close();
  }
}

async function enterRight(left: TreeCursor, right: TreeCursor, visit: ValueVisit): Promise<void> {
  const id = right.meta.id(right.range);
  if (visit.isKnown(id)) {
    right.nextRange();
    return;
  }
  // Ranges of the tree shown before that end below this one can say nothing of it.
  while (left.state !== 'end' && left.meta.compareMax(left.range, right.meta.minKey(right.range)) < 0) {
    left.nextRange();
  }
  await right.enter();
}

/** `right` stands at a record. */
async function step(left: TreeCursor, right: TreeCursor, visit: ValueVisit): Promise<void> {
  const { key, keyLength } = right.records;
  if (left.state === 'header') {
    if (left.meta.compareMin(left.range, key, keyLength) > 0) {
      show(right, visit);
      return;
    }
    if (left.meta.compareMax(left.range, key.subarray(0, keyLength)) < 0) {
      left.nextRange();
      return;
    }
    await left.enter();
  }
  if (left.state === 'end') {
    show(right, visit);
    return;
  }
  const order = compareRecords(left.records, right.records);
  if (order < 0) left.nextRecord();
  else if (order > 0) show(right, visit);
  else {
    if (!sameValue(left.records, right.records)) {
      show(right, visit);
      left.nextRecord();
      return;
    }
    if (left.records.endsBlock && right.records.endsBlock) skipEqualBlocks(left, right);
    left.nextRecord();
    next(right, visit);
  }
}

function show(right: TreeCursor, visit: ValueVisit): void {
  const { block, valueStart, valueEnd } = right.records;
  visit.value(block, valueStart, valueEnd);
  next(right, visit);
}

/** A range counts as known once its last record is behind. */
function next(right: TreeCursor, visit: ValueVisit): void {
  const range = right.range;
  right.nextRecord();
  if (right.state !== 'record') visit.done(right.meta.id(range));
}

function sameValue(left: TableCursor, right: TableCursor): boolean {
  const length = left.valueEnd - left.valueStart;
  if (length !== right.valueEnd - right.valueStart) return false;
  return (
    left.block.compare(right.block, right.valueStart, right.valueEnd, left.valueStart, left.valueEnd) === 0
  );
}
