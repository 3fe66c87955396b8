import { createContext, useContext } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Repository } from '../../lib/api.ts';
import { refQuery } from '../../lib/queries.ts';
import type { ResolvedRef } from '../../lib/queries.ts';

export const RepositoryContext = createContext<Repository | undefined>(undefined);

/** The repository whose pages are shown. */
export function useRepository(): Repository {
  const repository = useContext(RepositoryContext);
  if (repository === undefined) throw new Error('this component is shown outside a repository');
  return repository;
}

export interface CurrentRef {
  readonly ref: string;
  /** Undefined while it is looked up, null when there is no such ref. */
  readonly resolved: ResolvedRef | null | undefined;
  readonly isBranch: boolean;
  /** Why nothing can be written here, or undefined when it can. */
  readonly readOnlyReason: string | undefined;
  readonly error: unknown;
}

/** The ref of a page: of the address, else the default branch. */
export function useCurrentRef(ref: string | undefined): CurrentRef {
  const repository = useRepository();
  const name = ref ?? repository.default_branch;
  const { data, error } = useQuery(refQuery(repository.id, name));
  const isBranch = data?.kind === 'branch';
  return {
    ref: name,
    resolved: data,
    isBranch,
    readOnlyReason:
      repository.read_only === true
        ? 'This repository is read-only'
        : isBranch || data === undefined
          ? undefined
          : 'Only a branch can be changed; choose one',
    error: error ?? undefined,
  };
}
