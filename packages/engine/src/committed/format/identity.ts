import { equalSlices, VarintReader } from '@svc/encoding';
import { CorruptTableError, type TableCursor } from '@svc/sstable';

/** Where the identity inside a record's value `[start, end)` ends; it follows its own length. */
function identityEnd(value: Uint8Array, start: number, end: number): number {
  const first = value[start] as number;
  if (first < 0x80 && start < end) {
    const short = start + 1 + (first >>> 1);
    if ((first & 1) === 0 && short <= end) return short;
  }
  const reader = new VarintReader(value, start, end);
  const length = reader.svarint();
  if (!(length >= 0 && reader.position + length <= end)) {
    throw new CorruptTableError('the identity of a record is unreadable');
  }
  return reader.position + length;
}

/** Equal length prefixes and equal bytes: the encoded identities are compared as they lie. */
export function sameIdentity(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  return equalSlices(a, aStart, identityEnd(a, aStart, aEnd), b, bStart, identityEnd(b, bStart, bEnd));
}

export function sameRecordIdentity(a: TableCursor, b: TableCursor): boolean {
  return equalSlices(
    a.block,
    a.valueStart,
    recordIdentityEnd(a),
    b.block,
    b.valueStart,
    recordIdentityEnd(b),
  );
}

function recordIdentityEnd(record: TableCursor): number {
  try {
    return identityEnd(record.block, record.valueStart, record.valueEnd);
  } catch (error) {
    throw record.damage('the identity of a record is unreadable', error);
  }
}
