import { useQuery } from '@tanstack/react-query';
import { client } from '../../lib/api.ts';
import { resourceChoices } from '../../lib/policy-form.ts';

/** Resources that can be picked: those of the first repositories are named. */
export function useResourceChoices(): string[] {
  const { data } = useQuery({
    queryKey: ['repository-names'],
    queryFn: () =>
      client
        .get('/repositories', { params: { query: { amount: 100 } } })
        .then(({ results }) => results.map(({ id }) => id))
        .catch(() => []),
  });
  return resourceChoices(data ?? []);
}
