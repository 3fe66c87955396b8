import { equalSlices, prefixSuccessor } from '@svc/encoding';
import type { RecordIterator, RecordPlace } from '../committed/tree.ts';
import { foldEnd, type Walk } from './key-range.ts';
import type { PageBuilder } from './object-page.ts';

/**
 * Takes items from records that begin at the walk's start until the page has `amount`; returns whether more follow.
 * A folded prefix is passed by seeking behind it, not by reading its keys.
 */
export async function fillPage(
  builder: PageBuilder,
  records: RecordIterator,
  walk: Walk,
  amount: number,
): Promise<boolean> {
  const { prefix } = walk;
  for (;;) {
    const more = records.next();
    if (!(typeof more === 'boolean' ? more : await more)) return false;
    const place = records.place ?? placeOf(records);
    const { keyBytes, keyLength } = place;
    if (keyLength < prefix.length || !equalSlices(keyBytes, 0, prefix.length, prefix, 0, prefix.length))
      return false;
    if (builder.count === amount) return true;
    const end = foldEnd(keyBytes, walk, keyLength);
    if (end < 0) {
      builder.add(place);
      continue;
    }
    const commonPrefix = Buffer.from(keyBytes.subarray(0, end));
    builder.addPrefix(commonPrefix);
    const next = prefixSuccessor(commonPrefix);
    if (next === undefined) return false;
    records.seek(next);
  }
}

function placeOf({ key, data }: RecordIterator): RecordPlace {
  return { keyBytes: key, keyLength: key.length, dataBytes: data, dataStart: 0, dataEnd: data.length };
}
