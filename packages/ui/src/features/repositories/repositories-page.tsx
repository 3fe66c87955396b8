import { Button, NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Database, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import {
  ClearFilter,
  EmptyState,
  ErrorNotice,
  Skeletons,
  Tag,
  Time,
  usePageTitle,
} from '../../kit/basics.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { ListTabs, livingOrDeleted } from '../../kit/list-tabs.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Repository } from '../../lib/api.ts';
import { summaryOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import type { ListedPage } from '../../lib/paged-list.ts';
import { usePagedList, usePagedState } from '../../lib/use-paged-list.ts';
import { configQuery, useStorages, useWrite } from '../../lib/queries.ts';
import { createRepositorySnippet } from '../../lib/snippets.ts';
import { Main } from '../shell/layout.tsx';

const CreateRepositoryDialog = onDemand(
  async () => (await import('./create-repository-dialog.tsx')).CreateRepositoryDialog,
);
const HomeAside = onDemand(async () => (await import('../home/home-aside.tsx')).HomeAside);
const DeletedRepositories = lazy(async () => ({
  default: (await import('./deleted-repositories.tsx')).DeletedRepositories,
}));

const orders = [
  { value: 'name', label: 'By name' },
  { value: 'changed', label: 'Changed last' },
  { value: 'created', label: 'Created last' },
];

const createdAt = (repository: Repository): number => repository.creation_date;
const changedAt = ({ summary, creation_date }: Repository): number =>
  summary?.last_commit?.creation_date ?? creation_date;

export function RepositoriesPage(): ReactNode {
  usePageTitle('Repositories');
  const { search = '', create, tab, sort } = useSearch({ from: '/app/repositories' });
  const navigate = useNavigate({ from: '/repositories' });
  const storages = useStorages();
  const { data: config } = useQuery(configQuery);
  const [creating, setCreating] = useState<'empty' | 'sample' | undefined>(
    create === undefined ? undefined : 'empty',
  );
  const [mayCreate, setMayCreate] = useState(true);
  const order = sort ?? 'name';
  const list = usePagedList<Repository>(['repositories', search, order], async (after, amount, signal) => {
    const read = async (from: string, count: number) => {
      const query = { search, after: from, amount: count, summary: true };
      const answer = await client.get('/repositories', { params: { query }, signal });
      setMayCreate(answer.may_create !== false);
      return toPage(answer);
    };
    if (order === 'name') return read(after, amount);
    // The server lists by name: another order needs all of them.
    const rows: Repository[] = [];
    for (let from: string | undefined = ''; from !== undefined;) {
      const page: ListedPage<Repository> = await read(from, 1000);
      rows.push(...page.rows);
      from = page.next;
    }
    const newest = order === 'created' ? createdAt : changedAt;
    return { rows: rows.sort((left, right) => newest(right) - newest(left)), next: undefined };
  });
  const state = usePagedState(list);
  const setSearch = (value: string): void =>
    void navigate({ search: (was) => ({ ...was, search: value === '' ? undefined : value }), replace: true });
  const open = (id: string): void =>
    void navigate({ to: '/repositories/$repo/objects', params: { repo: id } });
  const sample = useWrite(
    () =>
      client.post('/repositories', {
        body: {
          name: 'quickstart',
          storage_namespace: 'local://quickstart',
          default_branch: 'main',
          sample_data: true,
        },
      }),
    ({ id }) => open(id),
  );
  const isLocal = config?.storage_config?.blockstore_type === 'local';
  const shelf = tab === 'deleted' ? 'deleted' : 'living';
  const isNew = state.complete && state.count === 0 && search === '';

  return (
    <Main>
      <div className="page-head">
        <h1>Repositories</h1>
        <div className="right row">
          <FilterField
            label="Find a repository"
            placeholder="Find a repository"
            value={search}
            onFilter={setSearch}
          />
          {shelf === 'living' && (
            <NativeSelect
              aria-label="Order"
              w={140}
              data={orders}
              value={order}
              onChange={({ currentTarget: { value } }) =>
                void navigate({ search: (was) => ({ ...was, sort: value === 'name' ? undefined : value }) })
              }
            />
          )}
          <GuardedButton
            leftSection={<Plus size={15} />}
            reason={
              mayCreate
                ? undefined
                : 'You may not create repositories: your account lacks fs:CreateRepository'
            }
            onClick={() => setCreating('empty')}
          >
            Create repository
          </GuardedButton>
        </div>
      </div>
      {sample.error !== null && <ErrorNotice error={sample.error} />}
      <div className="home">
        <div className="box grow">
          <ListTabs
            label="Which repositories"
            tabs={livingOrDeleted}
            value={shelf}
            onChange={(chosen) =>
              void navigate({ search: (was) => ({ ...was, tab: chosen === 'deleted' ? chosen : undefined }) })
            }
          />
          {shelf === 'deleted' ? (
            <Suspense fallback={<Skeletons />}>
              <DeletedRepositories prefix={search} onOpen={open} />
            </Suspense>
          ) : (
            <VirtualList
              label="Repositories"
              noun="repositories"
              list={list}
              rowHeight={60}
              header={false}
              columns={[
                {
                  name: 'Repository',
                  width: 'minmax(0, 1fr)',
                  cell: (repository) => (
                    <div>
                      <div className="row nowrap">
                        <Link
                          data-row-link
                          to="/repositories/$repo/objects"
                          params={{ repo: repository.id }}
                          className="ellipsis title-link"
                        >
                          {repository.id}
                        </Link>
                        {repository.read_only === true && <Tag kind="changed">Read-only</Tag>}
                        {storages.length > 1 && <Tag>{repository.storage_id}</Tag>}
                      </div>
                      <div className="small muted ellipsis">
                        {repository.summary?.description ?? (
                          <span className="mono">{repository.storage_namespace}</span>
                        )}
                      </div>
                    </div>
                  ),
                },
                {
                  name: 'Last commit',
                  width: 'minmax(0, 1fr)',
                  wide: true,
                  className: 'small muted',
                  cell: ({ id, default_branch, summary }) => (
                    <div>
                      {summary?.last_commit !== undefined && (
                        <Link
                          className="plain-link ellipsis block"
                          to="/repositories/$repo/commits/$commitId"
                          params={{ repo: id, commitId: summary.last_commit.id }}
                          title={summary.last_commit.message}
                        >
                          {summaryOf(summary.last_commit.message)}
                        </Link>
                      )}
                      <div className="ellipsis">
                        {summary?.last_commit?.committer === undefined || summary.last_commit.committer === ''
                          ? default_branch
                          : `${summary.last_commit.committer} on ${default_branch}`}
                      </div>
                    </div>
                  ),
                },
                {
                  name: 'Changed',
                  width: '110px',
                  className: 'num small muted',
                  cell: (repository) => <Time seconds={changedAt(repository)} />,
                },
              ]}
              empty={
                isNew ? (
                  <EmptyState
                    icon={<Database size={40} aria-hidden />}
                    title="Welcome to svc"
                    actions={
                      <>
                        <Button
                          loading={sample.isPending}
                          onClick={() => (isLocal ? sample.mutate(undefined) : setCreating('sample'))}
                        >
                          Create sample repository
                        </Button>
                        <Button variant="default" onClick={() => setCreating('empty')}>
                          Create empty repository
                        </Button>
                      </>
                    }
                    snippet={createRepositorySnippet('my-data', `${isLocal ? 'local' : 's3'}://my-data`)}
                  >
                    A repository keeps versions of data in an object store: branch it, change it, compare,
                    merge, go back. The sample brings data to try this with.
                  </EmptyState>
                ) : (
                  <EmptyState
                    title={`No repository contains “${search}”`}
                    actions={<ClearFilter onClear={() => setSearch('')} />}
                  />
                )
              }
            />
          )}
        </div>
        {shelf === 'living' && <HomeAside />}
      </div>
      {creating !== undefined && (
        <CreateRepositoryDialog
          sample={creating === 'sample'}
          onClose={() => setCreating(undefined)}
          onCreated={open}
        />
      )}
    </Main>
  );
}
