import { client } from '../../lib/api.ts';
import { markChanges } from '../../lib/listing.ts';
import type { ChangeEntry, MarkedEntry } from '../../lib/listing.ts';
import { compareUtf8 } from '../../lib/paths.ts';
import type { FetchPage } from '../../lib/paged-list.ts';

interface EntriesOptions {
  readonly repository: string;
  readonly ref: string;
  readonly prefix: string;
  /** Mark uncommitted changes; only a branch has any. */
  readonly isBranch: boolean;
}

/** The folder's uncommitted changes up to a path. Most folders have none: one request. */
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

/** Pages of a folder with marks. */
export function fetchEntries(options: EntriesOptions): FetchPage<MarkedEntry> {
  const { repository, ref, prefix, isBranch } = options;
  return async (after, amount, signal) => {
    const listing = client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: {
        path: { repository, ref },
        query: { prefix, delimiter: '/', after, amount, user_metadata: false },
      },
      signal,
    });
    const firstChanges =
      isBranch && after === ''
        ? changesUntil(options, { after, until: prefix }, signal)
        : Promise.resolve(undefined);
    const [{ pagination, results }, early] = await Promise.all([listing, firstChanges]);
    const next = pagination.has_more ? pagination.next_offset : undefined;
    if (!isBranch) return { rows: results, next };
    const range = { after, until: next === undefined ? undefined : results.at(-1)?.path };
    // The first request brings up to a thousand changes, which is nearly always all of them.
    const changes =
      early !== undefined && early.length < 1000 ? early : await changesUntil(options, range, signal);
    return { rows: markChanges(results, changes, range), next };
  };
}
