import { client } from '../../lib/api.ts';
import { changesIn, markChanges } from '../../lib/listing.ts';
import type { ChangeEntry, MarkedEntry } from '../../lib/listing.ts';
import { compareUtf8, nameIn } from '../../lib/paths.ts';
import type { FetchPage } from '../../lib/paged-list.ts';
import { changesQuery, queryClient } from '../../lib/queries.ts';
import type { BranchChanges } from '../../lib/queries.ts';

export interface EntriesOptions {
  readonly repository: string;
  readonly ref: string;
  readonly prefix: string;
  /** Mark uncommitted changes; only a branch has any. */
  readonly isBranch: boolean;
  /** A part of the names that are shown; upper and lower case are the same. */
  readonly filter: string;
}

/** The folder's uncommitted changes up to a path. */
async function changesUntil(
  { repository, ref, prefix }: EntriesOptions,
  range: { after: string; until: string | undefined },
  signal: AbortSignal,
): Promise<ChangeEntry[]> {
  const changes: ChangeEntry[] = [];
  for (let after = range.after; ;) {
    const { pagination, results } = await client.get('/repositories/{repository}/branches/{branch}/diff', {
      params: { path: { repository, branch: ref }, query: { prefix, delimiter: '/', after, amount: 1000 } },
      signal,
    });
    changes.push(...results);
    const last = results.at(-1)?.path;
    if (!pagination.has_more || last === undefined) return changes;
    if (range.until !== undefined && compareUtf8(last, range.until) >= 0) return changes;
    after = pagination.next_offset;
  }
}

/** The folder's uncommitted changes, from those of the whole branch where they are few. */
async function changesOf(
  options: EntriesOptions,
  range: { after: string; until: string | undefined },
  { first, signal }: { first: Promise<BranchChanges>; signal: AbortSignal },
): Promise<ChangeEntry[]> {
  const { changes, complete } = await first;
  return complete ? changesIn(options.prefix, changes) : changesUntil(options, range, signal);
}

/** Everything the rows of a folder depend on. */
export function entriesKey({ repository, ref, prefix, isBranch, filter }: EntriesOptions): string[] {
  return ['objects', repository, ref, prefix, String(isBranch), filter];
}

/** Pages of a folder with marks. */
export function fetchEntries(options: EntriesOptions): FetchPage<MarkedEntry> {
  const fetchPage = fetchAllEntries(options);
  const part = options.filter.toLowerCase();
  if (part === '') return fetchPage;
  return async (start, amount, signal) => {
    for (let after = start; ;) {
      const { rows, next } = await fetchPage(after, amount, signal);
      const shown = rows.filter(({ path }) => nameIn(options.prefix, path).toLowerCase().includes(part));
      // A page without rows would end the list.
      if (shown.length > 0 || next === undefined) return { rows: shown, next };
      after = next;
    }
  };
}

function fetchAllEntries(options: EntriesOptions): FetchPage<MarkedEntry> {
  const { repository, ref, prefix, isBranch } = options;
  return async (after, amount, signal) => {
    const listing = client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: {
        path: { repository, ref },
        query: { prefix, delimiter: '/', after, amount, user_metadata: false },
      },
      signal,
    });
    // The page above counts the same changes; later pages take what is known.
    const first = isBranch
      ? queryClient.fetchQuery({ ...changesQuery(repository, ref), staleTime: after === '' ? 0 : 15_000 })
      : undefined;
    first?.catch(() => undefined);
    const { pagination, results } = await listing;
    const next = pagination.has_more ? pagination.next_offset : undefined;
    if (first === undefined) return { rows: results, next };
    const range = { after, until: next === undefined ? undefined : results.at(-1)?.path };
    const changes = await changesOf(options, range, { first, signal });
    return { rows: markChanges(results, changes, range), next };
  };
}
