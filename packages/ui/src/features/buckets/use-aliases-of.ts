import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/api.ts';
import type { Alias } from '../../lib/api.ts';

/** The buckets that show a repository: at most the first thousand, and none for who may not list them. */
export function useAliasesOf(repository: string): readonly Alias[] {
  const { data } = useQuery({
    queryKey: ['aliases-of', repository],
    queryFn: () => client.get('/aliases', { params: { query: { repository, amount: 1000 } } }),
    staleTime: 60_000,
  });
  return data?.results ?? [];
}
