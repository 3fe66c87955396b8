import { createContext, useContext } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { Repository } from '../../lib/api.ts';
import { refQuery } from '../../lib/queries.ts';
import { refusalOf } from '../../lib/refusals.ts';
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
  readonly isProtected: boolean;
  /** Why nothing can be written here, or undefined when it can. */
  readonly readOnlyReason: string | undefined;
  /** Why something cannot be done here; undefined when it can, or when nobody knows yet. */
  readonly refusal: (action: string) => string | undefined;
  readonly error: unknown;
}

/** The ref of a page, of the address or else the default branch, and what may be done with it below a folder. */
export function useCurrentRef(ref: string | undefined, folder = ''): CurrentRef {
  const repository = useRepository();
  const name = ref ?? repository.default_branch;
  const { data, error } = useQuery({
    ...refQuery(repository.id, name, folder),
    // In another folder the ref is the same; what may be done there follows.
    placeholderData: (was) => (was?.ref === name ? was : undefined),
  });
  const isBranch = data?.kind === 'branch';
  const isProtected = data?.isProtected === true;
  const refusal = (action: string): string | undefined => {
    if (repository.read_only === true) return 'This repository is read-only';
    return refusalOf(action, data?.rights);
  };
  const place = (): string | undefined => {
    if (repository.read_only === true) return 'This repository is read-only';
    if (data !== undefined && !isBranch) return 'Only a branch can be changed; choose one';
    return isProtected ? `Branch ${name} is protected: it changes only by merging` : undefined;
  };
  return {
    ref: name,
    resolved: data,
    isBranch,
    isProtected,
    readOnlyReason: place() ?? refusal('fs:WriteObject'),
    refusal,
    error: error ?? undefined,
  };
}

/** What the user may not do in this repository, whatever the branch, and why. */
export function useRefusal(): (action: string) => string | undefined {
  // A commit belongs to no branch: what is allowed on some branch counts.
  return useCurrentRef(`${useRepository().default_branch}~0`).refusal;
}
