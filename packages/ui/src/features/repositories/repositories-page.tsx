import { Button } from '@mantine/core';
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
import { ListTabs, livingOrDeleted } from '../../kit/list-tabs.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Repository } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList, usePagedState } from '../../lib/use-paged-list.ts';
import { configQuery, useStorages, useWrite } from '../../lib/queries.ts';
import { createRepositorySnippet } from '../../lib/snippets.ts';
import { Main } from '../shell/layout.tsx';

const CreateRepositoryDialog = onDemand(
  async () => (await import('./create-repository-dialog.tsx')).CreateRepositoryDialog,
);
const DeletedRepositories = lazy(async () => ({
  default: (await import('./deleted-repositories.tsx')).DeletedRepositories,
}));

export function RepositoriesPage(): ReactNode {
  usePageTitle('Repositories');
  const { search = '', create, tab } = useSearch({ from: '/app/repositories' });
  const navigate = useNavigate({ from: '/repositories' });
  const storages = useStorages();
  const { data: config } = useQuery(configQuery);
  const [creating, setCreating] = useState<'empty' | 'sample' | undefined>(
    create === undefined ? undefined : 'empty',
  );
  const list = usePagedList<Repository>(['repositories', search], async (after, amount, signal) =>
    toPage(await client.get('/repositories', { params: { query: { search, after, amount } }, signal })),
  );
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
          <Button leftSection={<Plus size={15} />} onClick={() => setCreating('empty')}>
            Create repository
          </Button>
        </div>
      </div>
      {sample.error !== null && <ErrorNotice error={sample.error} />}
      <div className="box">
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
                    <div className="small muted ellipsis mono">{repository.storage_namespace}</div>
                  </div>
                ),
              },
              {
                name: 'Default branch',
                width: 'minmax(80px, 180px)',
                wide: true,
                cell: ({ default_branch }) => <Tag>{default_branch}</Tag>,
              },
              {
                name: 'Created',
                width: '110px',
                className: 'num small muted',
                cell: ({ creation_date }) => <Time seconds={creation_date} />,
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
