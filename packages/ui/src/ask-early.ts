import { entriesKey, fetchEntries } from './features/objects/fetch-entries.ts';
import type { EntriesOptions } from './features/objects/fetch-entries.ts';
import { identityOf, keepList } from './lib/kept-lists.ts';
import { PagedList } from './lib/paged-list.ts';
import { lastCommitsQuery, queryClient, refQuery, repositoryQuery, userQuery } from './lib/queries.ts';
import { router } from './routes.tsx';

/**
 * Takes what `start.js` has asked for, so that the first page is drawn once and whole. Whatever fails or is missing is
 * asked for again by the page, which says what is wrong.
 */
export async function askEarly(): Promise<void> {
  const { pathname, search, state } = router.history.location;
  const [, name, isFolder] = /^\/repositories\/([^/]+)(\/objects)?/.exec(pathname) ?? [];
  if (name === undefined || (await queryClient.fetchQuery(userQuery)) === null) return;
  const repository = await queryClient.fetchQuery(repositoryQuery(decodeURIComponent(name)));
  const query = new URLSearchParams(search);
  if (isFolder === undefined || query.has('q') || query.has('after') || query.has('showChanges')) return;
  const ref = query.get('ref') ?? repository.default_branch;
  const prefix = query.get('path') ?? '';
  if (ref.includes('@')) return;
  const place = { repository: repository.id, ref, prefix, filter: '' };
  const visit = state.__TSR_key ?? '';
  const reading =
    ref === repository.default_branch ? readAhead(visit, { ...place, isBranch: true }) : undefined;
  const resolved = await queryClient.fetchQuery(refQuery(repository.id, ref, prefix));
  if (resolved === null) return;
  void queryClient.prefetchQuery(lastCommitsQuery(repository.id, resolved.commitId, prefix, ''));
  await (reading ?? readAhead(visit, { ...place, isBranch: resolved.kind === 'branch' }));
}

async function readAhead(visit: string, options: EntriesOptions): Promise<void> {
  const list = new PagedList(fetchEntries(options), '');
  if (await list.readAhead()) keepList(visit, identityOf(entriesKey(options), ''), list);
}
