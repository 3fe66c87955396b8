import type { Page } from '../face/model.ts';

const defaultAmount = 100;
const maxAmount = 1000;

/** Absent, 0 and -1 mean 100; more than `limit` is cut. */
export function pageSize(amount: number | undefined, limit = maxAmount): number {
  if (amount === undefined || amount <= 0) return Math.min(defaultAmount, limit);
  return Math.min(amount, limit);
}

/** Takes one page of an ordered listing. */
export async function collectPage<T>(
  items: AsyncIterable<T>,
  amount: number | undefined,
  idOf: (item: T) => string,
): Promise<Page<T>> {
  const size = pageSize(amount);
  const page: T[] = [];
  for await (const item of items) {
    if (page.length === size) return { items: page, hasMore: true, nextOffset: lastId(page, idOf) };
    page.push(item);
  }
  return { items: page, hasMore: false, nextOffset: '' };
}

function lastId<T>(page: readonly T[], idOf: (item: T) => string): string {
  const last = page.at(-1);
  return last === undefined ? '' : idOf(last);
}
