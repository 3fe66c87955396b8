import { ValueParts } from '@svc/encoding';
import type { TableCursor } from '@svc/sstable';
import type { TreeRecord } from '../tree.ts';

const parts = new ValueParts();

/** The record a lookup found, for keeps: the cursor moves on and its block goes. */
export function foundRecord(cursor: TableCursor, key: Buffer): TreeRecord {
  const value = foundValue(cursor);
  try {
    parts.read(value, 0, value.length);
  } catch (error) {
    throw cursor.damage('a record is unreadable', error);
  }
  return {
    key,
    identity: value.subarray(parts.identityStart, parts.identityEnd),
    data: value.subarray(parts.dataStart, parts.dataEnd),
  };
}

export function foundValue(cursor: TableCursor): Buffer {
  return Buffer.from(cursor.block.subarray(cursor.valueStart, cursor.valueEnd));
}
