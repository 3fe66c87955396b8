import { useQuery } from '@tanstack/react-query';
import { rightsQuery } from './queries.ts';
import { refusalOf } from './refusals.ts';

/** Why the user may not do something on the pages of administration; undefined when they may or nobody knows. */
export function useRefusals(): (action: string) => string | undefined {
  const rights = useQuery(rightsQuery).data ?? undefined;
  return (action) => refusalOf(action, rights);
}
