import { AuthError } from '../errors.ts';
import { maxPerPage, type Page, type PageRequest } from '../model.ts';

const defaultAmount = 100;
/** Records looked up together: one by one, each would wait for the database. */
const resolvedAtOnce = 64;

export function pageAmount(page: PageRequest): number {
  const amount = page.amount ?? defaultAmount;
  if (!Number.isInteger(amount) || amount < -1 || amount > maxPerPage) {
    throw new AuthError('invalid', `amount must be between -1 and ${maxPerPage}`);
  }
  return amount <= 0 ? defaultAmount : amount;
}

/** Scan bounds of a page; one entry more than asked for tells whether there is a next one. */
export function scanOf(
  page: PageRequest,
  amount: number,
): { prefix?: string; after?: string; batch: number } {
  return {
    ...(page.prefix === undefined ? {} : { prefix: page.prefix }),
    ...(page.after === undefined ? {} : { after: page.after }),
    batch: amount + 1,
  };
}

/** Takes one page, and looks one entry further to know whether there is more. */
export async function takePage<E, T>(
  entries: AsyncIterable<E>,
  amount: number,
  idOf: (entry: E) => string,
  resolve: (entry: E) => Promise<T | undefined> | T | undefined,
): Promise<Page<T>> {
  const results: T[] = [];
  let last = '';
  for await (const group of inGroups(entries, Math.min(resolvedAtOnce, amount + 1))) {
    const resolved = await Promise.all(group.map(async (entry) => resolve(entry)));
    for (const [index, entry] of group.entries()) {
      const result = resolved[index];
      // An index entry whose record is gone is not there.
      if (result === undefined) continue;
      if (results.length === amount) return { results, hasMore: true, nextOffset: last };
      results.push(result);
      last = idOf(entry);
    }
  }
  return { results, hasMore: false, nextOffset: '' };
}

async function* inGroups<E>(entries: AsyncIterable<E>, size: number): AsyncGenerator<E[], void, undefined> {
  let group: E[] = [];
  for await (const entry of entries) {
    group.push(entry);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** One page of something small that is held in memory. */
export function pageOf<T>(items: readonly T[], idOf: (item: T) => string, page: PageRequest): Page<T> {
  const amount = pageAmount(page);
  const { prefix = '', after = '' } = page;
  const wanted = items
    .filter((item) => idOf(item).startsWith(prefix) && (after === '' || compareIds(idOf(item), after) > 0))
    .sort((left, right) => compareIds(idOf(left), idOf(right)));
  const results = wanted.slice(0, amount);
  const hasMore = wanted.length > amount;
  const last = results.at(-1);
  return { results, hasMore, nextOffset: hasMore && last !== undefined ? idOf(last) : '' };
}

function compareIds(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
