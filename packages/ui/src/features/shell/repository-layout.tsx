import { Button } from '@mantine/core';
import { ApiError } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useParams } from '@tanstack/react-router';
import {
  Activity,
  FileStack,
  GitBranch,
  GitCommitHorizontal,
  GitCompareArrows,
  GitPullRequest,
  History,
  Settings,
  Tag as TagIcon,
  Zap,
} from 'lucide-react';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, EmptyState, ErrorNotice, Skeletons, Tag } from '../../kit/basics.tsx';
import { useActiveInSight } from '../../kit/use-active-in-sight.ts';
import { client } from '../../lib/api.ts';
import type { Repository } from '../../lib/api.ts';
import { forgetRepository, rememberRepository } from '../../lib/preferences.ts';
import { repositoryQuery, useStorages, useWrite } from '../../lib/queries.ts';
import { usePinnedTimes } from '../time/use-pinned-times.ts';
import { Main } from './layout.tsx';
import { RepositoryContext } from './repository-context.tsx';

export function RepositoryLayout(): ReactNode {
  const { repo } = useParams({ from: '/app/repositories/$repo' });
  const { data: repository, error, refetch } = useQuery(repositoryQuery(repo));
  const { search } = useLocation();
  const pinning = usePinnedTimes(repo, search);
  const isHere = repository !== undefined;
  const isGone = error instanceof ApiError && (error.status === 404 || error.status === 410);
  useEffect(() => {
    if (isHere) rememberRepository(repo);
    else if (isGone) forgetRepository(repo);
  }, [repo, isHere, isGone]);
  if (repository === undefined) {
    const status = error instanceof ApiError ? error.status : 0;
    return (
      <Main>
        {error === null && <Skeletons rows={10} />}
        {status === 404 && (
          <>
            <h1 className="visually-hidden">Repository not found</h1>
            <EmptyState
              title={`There is no repository ${repo}`}
              actions={
                <Button component={Link} to="/repositories">
                  All repositories
                </Button>
              }
            >
              It was deleted, or the name in the address is wrong.
            </EmptyState>
          </>
        )}
        {status === 410 && <BeingDeleted repo={repo} onLookAgain={() => void refetch()} />}
        {error !== null && status !== 404 && status !== 410 && (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        )}
      </Main>
    );
  }
  return (
    <RepositoryContext value={repository}>
      <RepositoryHeader repository={repository} />
      <Main>{pinning ? <Skeletons rows={10} /> : <Outlet />}</Main>
    </RepositoryContext>
  );
}

/** Deleting a large repository takes a while and can be taken up again when it was interrupted. */
function BeingDeleted({ repo, onLookAgain }: { repo: string; onLookAgain: () => void }): ReactNode {
  const remove = useWrite(
    () => client.delete('/repositories/{repository}', { params: { path: { repository: repo } } }),
    onLookAgain,
  );
  return (
    <>
      <h1 className="visually-hidden">Repository being deleted</h1>
      <EmptyState
        title="This repository is being deleted"
        actions={
          <>
            <Button variant="default" onClick={onLookAgain}>
              Look again
            </Button>
            <Button loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
              Delete again
            </Button>
          </>
        }
      >
        Deleting takes a while for large repositories; nothing can be done with it any more.
      </EmptyState>
      {remove.error !== null && <ErrorNotice error={remove.error} />}
    </>
  );
}

function RepositoryHeader({ repository }: { repository: Repository }): ReactNode {
  const { id: repo, default_branch: defaultBranch } = repository;
  // A server with one storage names none.
  const { storage_id: storageId = '' } = repository;
  const storages = useStorages(storageId !== '');
  const tabs = useActiveInSight();
  const description = repository.summary?.description;
  const { search, pathname } = useLocation();
  const loose = { includeSearch: false };
  const query = search as { ref?: string; compare?: string };
  // Compare and pull requests keep the looked-at ref in `compare`.
  const ref = query.compare ?? query.ref;
  const params = { repo };
  const kept = ref === undefined ? {} : { ref };
  return (
    <div className="repo-header">
      <div className="inside">
        <div className="row nowrap">
          <nav aria-label="Place" className="row nowrap ellipsis">
            <Link to="/repositories" className="muted hide-narrow">
              Repositories
            </Link>
            <span className="muted hide-narrow" aria-hidden>
              /
            </span>
            <Link to="/repositories/$repo/objects" params={params} className="repo-title ellipsis">
              {repo}
            </Link>
          </nav>
          <CopyButton text={`svc://${repo}`} label="Copy repository URI" />
          {repository.read_only === true && <Tag kind="changed">Read-only</Tag>}
          {storages.length > 1 && <Tag>{storageId}</Tag>}
          {description !== undefined && description !== '' && (
            <span className="muted ellipsis hide-narrow" title={description}>
              {description}
            </span>
          )}
        </div>
        <nav className="tabs" aria-label="Repository" ref={tabs}>
          <Link
            to="/repositories/$repo/objects"
            params={params}
            search={kept}
            activeOptions={loose}
            aria-current={pathname.endsWith('/object') ? 'page' : undefined}
          >
            <FileStack size={15} aria-hidden /> Data
          </Link>
          <Link to="/repositories/$repo/commits" params={params} search={kept} activeOptions={loose}>
            <GitCommitHorizontal size={15} aria-hidden /> Commits
          </Link>
          <Link to="/repositories/$repo/branches" params={params} activeOptions={loose}>
            <GitBranch size={15} aria-hidden /> Branches
          </Link>
          <Link to="/repositories/$repo/tags" params={params} activeOptions={loose}>
            <TagIcon size={15} aria-hidden /> Tags
          </Link>
          <Link to="/repositories/$repo/pulls" params={params} activeOptions={loose}>
            <GitPullRequest size={15} aria-hidden /> Pull requests
          </Link>
          <Link to="/repositories/$repo/actions" params={params} activeOptions={loose}>
            <Zap size={15} aria-hidden /> Actions
          </Link>
          <Link
            to="/repositories/$repo/compare"
            params={params}
            search={{ ref: defaultBranch, ...(ref !== undefined && { compare: ref }) }}
            activeOptions={loose}
          >
            <GitCompareArrows size={15} aria-hidden /> Compare
          </Link>
          <Link to="/repositories/$repo/history" params={params} activeOptions={loose}>
            <History size={15} aria-hidden /> History
          </Link>
          <Link to="/repositories/$repo/activity" params={params} activeOptions={loose}>
            <Activity size={15} aria-hidden /> Activity
          </Link>
          <Link to="/repositories/$repo/settings" params={params}>
            <Settings size={15} aria-hidden /> Settings
          </Link>
        </nav>
      </div>
    </div>
  );
}
