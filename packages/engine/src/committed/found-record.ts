import { ValueParts } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { TreeRecord } from './tree.ts';

const parts = new ValueParts();

/** The record a lookup found: slices of its block, which stays in memory as long as they do. The cursor may move on. */
export function foundRecord(cursor: TableCursor): TreeRecord {
  const { block } = cursor;
  parts.read(block, cursor.valueStart, cursor.valueEnd);
  return {
    key: Buffer.from(cursor.key.subarray(0, cursor.keyLength)),
    identity: block.subarray(parts.identityStart, parts.identityEnd),
    data: block.subarray(parts.dataStart, parts.dataEnd),
  };
}
