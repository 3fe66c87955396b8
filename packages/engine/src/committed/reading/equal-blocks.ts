import type { TableCursor } from '@svc/sstable';
import type { TreeCursor } from './tree-cursor.ts';

/** Both cursors stand at a block's end, and what follows is stored with the same bytes on both sides. */
export function nextBlocksAreEqual(left: TreeCursor, right: TreeCursor): boolean {
  const l = left.records;
  const r = right.records;
  return l.endsBlock && r.endsBlock && areEqual(left, l, l.nextBlock, right, r, r.nextBlock);
}

/** How many blocks, from the next ones on, are stored with the same bytes on both sides. */
export function countEqualBlocks(left: TreeCursor, right: TreeCursor): number {
  const l = left.records;
  const r = right.records;
  if (!l.endsBlock || !r.endsBlock) return 0;
  let count = 0;
  while (areEqual(left, l, l.nextBlock + count, right, r, r.nextBlock + count)) count++;
  return count;
}

/** Passes over the blocks that are stored with the same bytes on both sides; false when there are none. */
export function skipEqualBlocks(left: TreeCursor, right: TreeCursor): boolean {
  const count = countEqualBlocks(left, right);
  if (count === 0) return false;
  left.records.seekBlock(left.records.nextBlock + count);
  right.records.seekBlock(right.records.nextBlock + count);
  return true;
}

function areEqual(
  left: TreeCursor,
  l: TableCursor,
  i: number,
  right: TreeCursor,
  r: TableCursor,
  j: number,
): boolean {
  const leftIndex = left.table.index;
  const rightIndex = right.table.index;
  if (i >= leftIndex.count || j >= rightIndex.count || leftIndex.length(i) !== rightIndex.length(j))
    return false;
  return l.withStored(i, (a, aStart, aEnd) =>
    r.withStored(j, (b, bStart, bEnd) => a.compare(b, bStart, bEnd, aStart, aEnd) === 0),
  );
}
