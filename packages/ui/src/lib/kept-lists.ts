import type { PagedList } from './paged-list.ts';
import { onWritten } from './queries.ts';

const maxKept = 8;

/** Lists that were left, by the visit in the browser's history and what they list. */
const kept = new Map<string, PagedList<unknown>>();

// Whatever was written may have changed them.
onWritten(() => kept.clear());

/** Names a list: what it lists, and where it starts. */
export function identityOf(key: readonly string[], start: string): string {
  return JSON.stringify([...key, start]);
}

export function keepList(visit: string, identity: string, list: PagedList<unknown>): void {
  const key = `${visit} ${identity}`;
  kept.delete(key);
  kept.set(key, list);
  for (const oldest of kept.keys()) {
    if (kept.size <= maxKept) break;
    kept.delete(oldest);
  }
}

export function keptList<Row>(visit: string, identity: string): PagedList<Row> | undefined {
  return kept.get(`${visit} ${identity}`) as PagedList<Row> | undefined;
}
