import { anonymousClient } from './api.ts';
import { queryClient, repositoryQuery, userQuery } from './queries.ts';

/**
 * Asks for what the address names before anything is drawn, so that the first answers are on their way while the page
 * is being made. Nobody may be logged in: the page asks again once somebody is.
 */
export function askEarly(pathname: string): void {
  const [, name] = /^\/repositories\/([^/]+)/.exec(pathname) ?? [];
  if (name === undefined) return;
  void queryClient.prefetchQuery(userQuery);
  const repository = decodeURIComponent(name);
  void queryClient.prefetchQuery({
    ...repositoryQuery(repository),
    queryFn: () =>
      anonymousClient.get('/repositories/{repository}', {
        params: { path: { repository }, query: { summary: true } },
      }),
  });
}
