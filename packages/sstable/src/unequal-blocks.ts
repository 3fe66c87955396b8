import { WorkBuffer } from '@svc/encoding';
import { StoredBlocks } from './stored-blocks.ts';
import { internalTrailerLength } from './table-format.ts';
import type { TableReader } from './table-reader.ts';

/** Numbers of blocks, in their order. */
export interface UnequalBlocks {
  readonly own: readonly number[];
  /** For each of the others. */
  readonly others: readonly (readonly number[])[];
}

/**
 * The blocks of `own`, and those of the `others` over which it lies, that are not stored with the same bytes on both
 * sides; a few that are may be among them. The others follow each other in the order of keys.
 */
export function unequalBlocks(own: TableReader, others: readonly TableReader[]): UnequalBlocks {
  const ownStored = storedBlocks(own);
  const ownBlocks: number[] = [];
  const otherBlocks = others.map((): number[] => []);
  let block = 0;
  for (const [place, other] of others.entries()) {
    const otherStored = storedBlocks(other);
    for (let against = 0; against < other.index.count; against += 1) {
      const separator = other.index.storedSeparator(against);
      const end = separator.length - internalTrailerLength;
      while (block < own.index.count && own.index.isBelow(block, separator, 0, end)) ownBlocks.push(block++);
      const isEqual =
        block < own.index.count &&
        own.index.storedSeparator(block).equals(separator) &&
        areEqual(ownStored, block, otherStored, against);
      if (isEqual) block += 1;
      else otherBlocks[place]?.push(against);
    }
  }
  while (block < own.index.count) ownBlocks.push(block++);
  return { own: ownBlocks, others: otherBlocks };
}

function areEqual(left: StoredBlocks, i: number, right: StoredBlocks, j: number): boolean {
  const leftStart = left.fetch(i);
  const rightStart = right.fetch(j);
  const leftEnd = left.endOf(i, leftStart);
  const rightEnd = right.endOf(j, rightStart);
  return left.bytes.compare(right.bytes, rightStart, rightEnd, leftStart, leftEnd) === 0;
}

function storedBlocks(reader: TableReader): StoredBlocks {
  return new StoredBlocks(reader, new WorkBuffer(0), (error) => error);
}
