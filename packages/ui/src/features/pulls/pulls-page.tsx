import { Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowLeft, GitPullRequest, Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState, BranchTag, Time, usePageTitle } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { PullRequest } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { branchSnippet } from '../../lib/snippets.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';
import { PullState, secondsOf } from './pull-state.tsx';

const shelves = ['open', 'closed', 'all'] as const;

export function PullsPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/pulls' });
  const navigate = useNavigate({ from: '/repositories/$repo/pulls' });
  usePageTitle('Pull requests', repository.id);
  const status = shelves.find((shelf) => shelf === search.status) ?? 'open';
  const list = usePagedList<PullRequest>(['pulls', repository.id, status], async (after, amount, signal) =>
    toPage(
      await client.get('/repositories/{repository}/pulls', {
        params: { path: { repository: repository.id }, query: { status, after, amount } },
        signal,
      }),
    ),
  );
  const refusal = useRefusal();
  const create = (): void =>
    void navigate({ to: '/repositories/$repo/pulls/create', params: { repo: repository.id } });
  return (
    <>
      <div className="page-head">
        <h1>Pull requests</h1>
        <div className="right">
          <GuardedButton
            leftSection={<Plus size={15} />}
            reason={refusal('pr:WritePullRequest')}
            onClick={create}
          >
            New pull request
          </GuardedButton>
        </div>
      </div>
      <div className="box">
        <div className="box-head with-tabs">
          <div className="tabs flush" role="tablist" aria-label="State">
            {shelves.map((shelf) => (
              <button
                key={shelf}
                type="button"
                role="tab"
                aria-selected={status === shelf}
                onClick={() => void navigate({ search: { status: shelf === 'open' ? undefined : shelf } })}
              >
                {shelf[0]?.toUpperCase() + shelf.slice(1)}
              </button>
            ))}
          </div>
        </div>
        <VirtualList
          label={`Pull requests, ${status}`}
          noun="pull requests"
          list={list}
          rowHeight={60}
          header={false}
          columns={[
            {
              name: 'Pull request',
              width: 'minmax(0, 1fr)',
              cell: (pull) => (
                <div>
                  <div className="row nowrap">
                    <PullState status={pull.status} />
                    <Link
                      data-row-link
                      className="ellipsis strong quiet-link"
                      to="/repositories/$repo/pulls/$id"
                      params={{ repo: repository.id, id: pull.id }}
                    >
                      {pull.title}
                    </Link>
                  </div>
                  <div className="small muted ellipsis">
                    <span className="only-narrow">
                      {pull.destination_branch} ← {pull.source_branch},{' '}
                    </span>
                    opened <Time seconds={secondsOf(pull.creation_date)} /> by {pull.author}
                    {pull.closed_date !== undefined && (
                      <>
                        , {pull.status} <Time seconds={secondsOf(pull.closed_date)} />
                      </>
                    )}
                  </div>
                </div>
              ),
            },
            {
              name: 'Branches',
              width: 'minmax(0, 340px)',
              wide: true,
              cell: (pull) => (
                <span className="row nowrap small end">
                  <BranchTag name={pull.destination_branch} />
                  <ArrowLeft className="rigid" size={14} aria-label="from" />
                  <BranchTag name={pull.source_branch} />
                </span>
              ),
            },
          ]}
          empty={
            <EmptyState
              icon={<GitPullRequest size={36} aria-hidden />}
              title={status === 'open' ? 'No open pull requests' : 'None here'}
              actions={
                refusal('pr:WritePullRequest') === undefined && (
                  <Button leftSection={<Plus size={15} />} onClick={create}>
                    New pull request
                  </Button>
                )
              }
              snippet={branchSnippet(repository.id, 'proposal', repository.default_branch)}
            >
              A pull request proposes to merge one branch into another, so that somebody can look at the
              changes first. Change data on a branch, then open one.
            </EmptyState>
          }
        />
      </div>
    </>
  );
}
