import { Select } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowRight, History as HistoryIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, Tag, Time, usePageTitle } from '../../kit/basics.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { RefMove } from '../../lib/api.ts';
import { secondsOf, shortId } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { MoveMenu } from './move-menu.tsx';
import type { MoveRequest } from './move-menu.tsx';
import { RestoreDialog } from './restore-dialog.tsx';
import { RollbackDialog } from './rollback-dialog.tsx';

const kinds = [
  'create',
  'commit',
  'merge',
  'revert',
  'cherry-pick',
  'import',
  'rollback',
  'hard-reset',
  'delete',
  'undelete',
];
const kindColours: Readonly<Record<string, string>> = {
  create: 'added',
  undelete: 'added',
  delete: 'removed',
  'hard-reset': 'removed',
  rollback: 'changed',
};

/** Every move of the branches and tags: who, when, from where to where, and ways back. */
export function HistoryPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/history' });
  const navigate = useNavigate({ from: '/repositories/$repo/history' });
  const { ref = '', type = '', kind = '', user = '', since = '' } = search;
  usePageTitle('History', ref, repository.id);
  const [asked, setAsked] = useState<MoveRequest>();
  const go = (change: Partial<typeof search>): void =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const orNone = (text: string | null): string | undefined =>
    text === null || text === '' ? undefined : text;
  const list = usePagedList<RefMove>(
    ['reflog', repository.id, ref, type, kind, user, since],
    async (after, amount, signal) =>
      toPage(
        await client.get('/repositories/{repository}/reflog', {
          params: {
            path: { repository: repository.id },
            query: {
              after,
              amount,
              ...(ref !== '' && { ref }),
              ...((type === 'branch' || type === 'tag') && { ref_type: type }),
              ...(kind !== '' && { kind: [kind] }),
              ...(user !== '' && { user }),
              ...(since !== '' && { since }),
            },
          },
          signal,
        }),
      ),
  );
  const isFiltered = ref !== '' || type !== '' || kind !== '' || user !== '' || since !== '';
  return (
    <>
      <div className="page-head">
        <h1>History</h1>
        <div className="right row">
          <FilterField
            label="Moves of one branch or tag"
            placeholder="Branch or tag"
            value={ref}
            onFilter={(value) => go({ ref: orNone(value) })}
            width={170}
          />
          <FilterField
            label="Moves by one user"
            placeholder="User"
            value={user}
            onFilter={(value) => go({ user: orNone(value) })}
            width={130}
          />
          <Select
            aria-label="Kind of move"
            placeholder="Everything"
            clearable
            data={kinds}
            value={kind === '' ? null : kind}
            onChange={(value) => go({ kind: orNone(value) })}
            w={150}
          />
        </div>
      </div>
      <div className="box">
        <VirtualList
          label="Moves"
          noun="moves"
          list={list}
          rowHeight={54}
          header={false}
          columns={[
            {
              name: 'Move',
              width: 'minmax(0, 1fr)',
              cell: (move) => (
                <div>
                  <div className="row nowrap">
                    <Tag kind={kindColours[move.kind] ?? 'info'}>{move.kind}</Tag>
                    <Link
                      className="ellipsis strong"
                      to="/repositories/$repo/history"
                      params={{ repo: repository.id }}
                      search={{ ref: move.ref_id, type: move.ref_type }}
                    >
                      {move.ref_id}
                    </Link>
                    {move.ref_type === 'tag' && <Tag>tag</Tag>}
                    {move.source !== undefined && (
                      <span className="muted ellipsis hide-narrow">from {shortId(move.source)}</span>
                    )}
                  </div>
                  <div className="small muted ellipsis">
                    {move.user !== '' && `${move.user}, `}
                    <Time seconds={secondsOf(move.time)} />
                  </div>
                </div>
              ),
            },
            {
              name: 'Commits',
              width: '250px',
              wide: true,
              className: 'num small',
              cell: ({ old_commit_id, new_commit_id }) => (
                <span className="row nowrap end">
                  <CommitLink commitId={old_commit_id} none="none" />
                  <ArrowRight size={14} aria-label="to" className="muted" />
                  <CommitLink commitId={new_commit_id} none="gone" />
                </span>
              ),
            },
            {
              name: 'Actions',
              width: '36px',
              cell: (move) => <MoveMenu move={move} onAsk={setAsked} />,
            },
          ]}
          empty={
            <EmptyState
              icon={<HistoryIcon size={36} aria-hidden />}
              title={isFiltered ? 'No such moves' : 'No moves are recorded'}
              actions={
                isFiltered && <ClearFilter onClear={() => void navigate({ search: {}, replace: true })} />
              }
              snippet={`svcctl reflog svc://${repository.id}${ref === '' ? '' : `/${ref}`}`}
            >
              Every move of a branch or tag is recorded: who, when, from which commit to which, and why.
            </EmptyState>
          }
        />
      </div>
      {asked?.what === 'restore' && <RestoreDialog asked={asked} onClose={() => setAsked(undefined)} />}
      {asked?.what === 'rollback' && <RollbackDialog asked={asked} onClose={() => setAsked(undefined)} />}
    </>
  );
}

function CommitLink({ commitId, none }: { commitId: string | undefined; none: string }): ReactNode {
  const repository = useRepository();
  if (commitId === undefined) return <span className="muted">{none}</span>;
  return (
    <Link
      className="mono"
      to="/repositories/$repo/commits/$commitId"
      params={{ repo: repository.id, commitId }}
    >
      {shortId(commitId)}
    </Link>
  );
}
