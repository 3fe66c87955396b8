import { prefixSuccessor, startsWithBytes } from '@svc/encoding';
import type { RecordIterator } from '../committed/tree.ts';
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
  for (;;) {
    const more = records.next();
    if (!(typeof more === 'boolean' ? more : await more)) return false;
    const { key } = records;
    if (!startsWithBytes(key, walk.prefix)) return false;
    if (builder.count === amount) return true;
    const end = foldEnd(key, walk);
    if (end < 0) {
      builder.add(key, records.data);
      continue;
    }
    const commonPrefix = Buffer.from(key.subarray(0, end));
    builder.add(commonPrefix, undefined);
    const next = prefixSuccessor(commonPrefix);
    if (next === undefined) return false;
    records.seek(next);
  }
}
