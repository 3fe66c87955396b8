import { QueryClient, queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import { ApiError } from '@svc/client';
import { anonymousClient, client, isNotFound } from './api.ts';
import type { Commit, Config, Diff, LoginConfig, Repository, StorageConfig, User } from './api.ts';
import { firstAmount } from './paged-list.ts';
import { parseTimeRef } from './time-refs.ts';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      // The client repeats what may be repeated itself.
      retry: false,
    },
  },
});

const listeners = new Set<() => void>();

/** Lists that page by themselves reload when something was written. */
export function onWritten(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export async function refreshAll(): Promise<void> {
  // Queries first: what a list shares with them is then asked for once.
  const refreshed = queryClient.invalidateQueries();
  for (const listener of listeners) listener();
  await refreshed;
}

/** A write; afterwards everything on the page is read again. */
export function useWrite<Input, Output>(
  run: (input: Input) => Promise<Output>,
  onDone?: (output: Output, input: Input) => void,
): UseMutationResult<Output, Error, Input> {
  return useMutation({
    mutationFn: run,
    onSuccess(output, input) {
      onDone?.(output, input);
      void refreshAll();
    },
  });
}

export const setupQuery = queryOptions({
  queryKey: ['setup'],
  queryFn: () => anonymousClient.get('/setup_lakefs'),
  staleTime: 60_000,
});

/** What mail is used for here. */
export const capabilitiesQuery = queryOptions({
  queryKey: ['auth-capabilities'],
  queryFn: () => anonymousClient.get('/auth/capabilities'),
  staleTime: 600_000,
});

/** The user, or null when nobody is logged in. */
export const userQuery = queryOptions({
  queryKey: ['user'],
  async queryFn(): Promise<User | null> {
    try {
      const { user } = await anonymousClient.get('/user');
      return user.id === '' ? null : user;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 300_000,
});

/** What the user may do on the pages of administration; null where a server does not say. */
export const rightsQuery = queryOptions({
  queryKey: ['user-rights'],
  async queryFn(): Promise<ReadonlySet<string> | null> {
    const { rights } = await client.get('/user', { params: { query: { rights: true } } });
    return rights === undefined ? null : new Set(rights);
  },
  staleTime: 60_000,
});

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: (): Promise<Config> => client.get('/config'),
  staleTime: 600_000,
});

export function useLoginConfig(): LoginConfig | undefined {
  return useQuery(setupQuery).data?.login_config;
}

/** What is asked for only where it is needed is not `enabled` elsewhere. */
export function useStorages(enabled = true): readonly StorageConfig[] {
  const config = useQuery({ ...configQuery, enabled }).data;
  if (config === undefined) return [];
  const list = config.storage_config_list ?? [];
  if (list.length > 0) return list;
  return config.storage_config === undefined ? [] : [config.storage_config];
}

export function useStorageOf(repository: Repository | undefined, enabled = true): StorageConfig | undefined {
  const storages = useStorages(enabled);
  if (repository === undefined) return undefined;
  return storages.length === 1
    ? storages[0]
    : storages.find((storage) => (storage.blockstore_id ?? '') === (repository.storage_id ?? ''));
}

export function repositoryQuery(repository: string) {
  return queryOptions({
    queryKey: ['repository', repository],
    queryFn: (): Promise<Repository> =>
      client.get('/repositories/{repository}', {
        params: { path: { repository }, query: { summary: true } },
      }),
  });
}

export function repositoryMetadataQuery(repository: string) {
  return queryOptions({
    queryKey: ['repository-metadata', repository],
    queryFn: () => client.get('/repositories/{repository}/metadata', { params: { path: { repository } } }),
    staleTime: 60_000,
  });
}

export interface ResolvedRef {
  readonly kind: 'branch' | 'tag' | 'commit';
  /** As the user wrote it. */
  readonly ref: string;
  readonly commitId: string;
  /** Of a ref at a time: an instant at which it stood there. */
  readonly instant?: string | undefined;
  /** A rule refuses uploads and commits. */
  readonly isProtected?: boolean | undefined;
  /** What the user may do here; undefined where it cannot be told. */
  readonly rights?: ReadonlySet<string> | undefined;
}

async function orMissing(found: Promise<ResolvedRef>): Promise<ResolvedRef | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return undefined;
    throw error;
  }
}

/** Resolves a ref to a branch, a tag, or an expression that names a commit; null when it is none of them. */
export async function resolveRef(repository: string, ref: string, folder = ''): Promise<ResolvedRef | null> {
  const path = { repository };
  try {
    const { kind, branch, commit_id, commit, time, rights, ...found } = await client.get(
      '/repositories/{repository}/refs/{ref}/resolve',
      {
        params: {
          path: { ...path, ref },
          query: { rights: true, ...(folder !== '' && { path: folder }) },
        },
      },
    );
    queryClient.setQueryData(commitQuery(repository, commit_id).queryKey, commit);
    // What is committed on a branch (`main@`) is not the branch: nothing can be written there.
    const isOther = kind === 'branch' && branch !== ref;
    return {
      kind: isOther ? 'commit' : kind,
      ref,
      commitId: commit_id,
      instant: time,
      isProtected: found.protected,
      rights: rights === undefined ? undefined : new Set(rights),
    };
  } catch (error) {
    // The server says why a time cannot be answered: who deleted the branch, how far its log reaches back.
    if (!(error instanceof ApiError) || parseTimeRef(ref) !== undefined) throw error;
    if (error.status === 404 || error.status === 400) return null;
    if (error.status !== 401) throw error;
  }
  // Who may not read commits may still read branches and tags.
  const branch = await orMissing(
    client
      .get('/repositories/{repository}/branches/{branch}', { params: { path: { ...path, branch: ref } } })
      .then(({ commit_id }) => ({ kind: 'branch' as const, ref, commitId: commit_id })),
  );
  if (branch !== undefined) return branch;
  const tag = await orMissing(
    client
      .get('/repositories/{repository}/tags/{tag}', { params: { path: { ...path, tag: ref } } })
      .then(({ commit_id }) => ({ kind: 'tag' as const, ref, commitId: commit_id })),
  );
  return tag ?? null;
}

/** A ref, and what the user may do with it below a folder. */
export function refQuery(repository: string, ref: string, folder = '') {
  return queryOptions({
    queryKey: ['ref', repository, ref, folder],
    queryFn: () => resolveRef(repository, ref, folder),
    staleTime: 30_000,
    enabled: ref !== '',
  });
}

export function commitQuery(repository: string, commitId: string) {
  return queryOptions({
    queryKey: ['commit', repository, commitId],
    queryFn: (): Promise<Commit> =>
      client.get('/repositories/{repository}/commits/{commitId}', {
        params: { path: { repository, commitId } },
      }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: commitId !== '',
  });
}

export interface LastCommits {
  readonly byPath: ReadonlyMap<string, Commit>;
  /** What is in none of them was never committed. */
  readonly complete: boolean;
}

/** The commits that last changed the first entries of a folder. */
export function lastCommitsQuery(repository: string, commitId: string, prefix: string, after: string) {
  return queryOptions({
    queryKey: ['last-commits', repository, commitId, prefix, after],
    async queryFn(): Promise<LastCommits> {
      const { results, commits, complete } = await client.get(
        '/repositories/{repository}/refs/{ref}/last_commits',
        { params: { path: { repository, ref: commitId }, query: { prefix, after, amount: firstAmount } } },
      );
      const byId = new Map(commits.map((commit) => [commit.id, commit]));
      const byPath = new Map<string, Commit>();
      for (const { path, commit_id } of results) {
        const commit = byId.get(commit_id);
        if (commit !== undefined) byPath.set(path, commit);
      }
      return { byPath, complete };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** How many commits a branch has that another has not, and the other way round. */
export function divergenceQuery(repository: string, branch: string, other: string) {
  return queryOptions({
    queryKey: ['divergence', repository, branch, other],
    queryFn: () =>
      client.get('/repositories/{repository}/refs/{leftRef}/divergence/{rightRef}', {
        params: { path: { repository, leftRef: branch, rightRef: other } },
      }),
    enabled: branch !== other,
  });
}

export interface BranchChanges {
  readonly changes: readonly Diff[];
  /** Whether these are all of them. */
  readonly complete: boolean;
}

/** The first thousand uncommitted changes of a branch; nearly always all of them. */
export function changesQuery(repository: string, branch: string) {
  return queryOptions({
    queryKey: ['changes', repository, branch],
    async queryFn(): Promise<BranchChanges> {
      const { results, pagination } = await client.get('/repositories/{repository}/branches/{branch}/diff', {
        params: { path: { repository, branch }, query: { amount: 1000 } },
      });
      return { changes: results, complete: !pagination.has_more };
    },
  });
}

/** The patterns of protected branches; none for who may not read them. */
export function protectionQuery(repository: string) {
  return queryOptions({
    queryKey: ['protection-patterns', repository],
    async queryFn(): Promise<string[]> {
      const rules = await client
        .get('/repositories/{repository}/settings/branch_protection', { params: { path: { repository } } })
        .catch(() => []);
      return rules.map(({ pattern }) => pattern);
    },
    staleTime: 60_000,
  });
}

export function statQuery(repository: string, ref: string, path: string) {
  return queryOptions({
    queryKey: ['stat', repository, ref, path],
    queryFn: () =>
      client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
        params: { path: { repository, ref }, query: { path } },
      }),
  });
}

/** The tags of each commit, read page by page. */
export function tagsByCommitQuery(repository: string) {
  return queryOptions({
    queryKey: ['tags-by-commit', repository],
    async queryFn(): Promise<Map<string, string[]>> {
      const byCommit = new Map<string, string[]>();
      for (let after = ''; ;) {
        const { pagination, results } = await client.get('/repositories/{repository}/tags', {
          params: { path: { repository }, query: { after, amount: 1000 } },
        });
        for (const { id, commit_id } of results) {
          byCommit.set(commit_id, [...(byCommit.get(commit_id) ?? []), id]);
        }
        if (!pagination.has_more) return byCommit;
        after = pagination.next_offset;
      }
    },
    staleTime: 60_000,
  });
}

/** The branches whose tip is each commit, of the first thousand branches. */
export function tipsByCommitQuery(repository: string) {
  return queryOptions({
    queryKey: ['tips-by-commit', repository],
    async queryFn(): Promise<Map<string, string[]>> {
      const { results } = await client.get('/repositories/{repository}/branches', {
        params: { path: { repository }, query: { amount: 1000 } },
      });
      const byCommit = new Map<string, string[]>();
      for (const { id, commit_id } of results) {
        byCommit.set(commit_id, [...(byCommit.get(commit_id) ?? []), id]);
      }
      return byCommit;
    },
    staleTime: 60_000,
  });
}

export type { UseQueryResult };
export { isNotFound };
