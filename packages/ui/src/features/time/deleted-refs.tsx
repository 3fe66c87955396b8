import { Button } from '@mantine/core';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ExactTime, Tag, Time } from '../../kit/basics.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { DeletedRef } from '../../lib/api.ts';
import { secondsOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { CommitLine } from '../branches/commit-line.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { RestoreDialog } from './restore-dialog.tsx';

/** Deleted branches or tags that can come back: who deleted them, when, and until when. */
export function DeletedRefs({
  type,
  prefix,
  showHidden = false,
}: {
  type: 'branch' | 'tag';
  prefix: string;
  showHidden?: boolean;
}): ReactNode {
  const repository = useRepository();
  const [asked, setAsked] = useState<DeletedRef>();
  const many = type === 'branch' ? 'branches' : 'tags';
  const list = usePagedList<DeletedRef>(
    ['deleted', type, repository.id, prefix, String(showHidden)],
    async (after, amount, signal) =>
      toPage(
        await client.get('/repositories/{repository}/deleted_refs', {
          params: {
            path: { repository: repository.id },
            query: { type, prefix, after, amount, show_hidden: showHidden },
          },
          signal,
        }),
      ),
  );
  return (
    <>
      <VirtualList
        label={`Deleted ${many}`}
        noun={many}
        list={list}
        rowHeight={54}
        columns={[
          {
            name: type === 'branch' ? 'Branch' : 'Tag',
            width: 'minmax(0, 1fr)',
            cell: ({ id, hidden, deleted_by, deleted_at }) => (
              <div>
                <div className="row nowrap">
                  <Trash2 size={15} aria-hidden className="muted" />
                  <strong className="ellipsis">{id}</strong>
                  {hidden && <Tag>hidden</Tag>}
                </div>
                <div className="small muted ellipsis">
                  deleted by {deleted_by}, <Time seconds={secondsOf(deleted_at)} />
                </div>
              </div>
            ),
          },
          {
            name: 'Pointed to',
            width: 'minmax(0, 1fr)',
            wide: true,
            cell: ({ commit_id }) => <CommitLine commitId={commit_id} />,
          },
          {
            name: 'Can come back until',
            width: '210px',
            wide: true,
            className: 'small muted',
            cell: ({ restorable_until }) => <ExactTime seconds={secondsOf(restorable_until)} />,
          },
          {
            name: 'Actions',
            quiet: true,
            width: '84px',
            className: 'num',
            cell: (deleted) =>
              repository.read_only === true ? null : (
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={`Restore ${deleted.id}`}
                  onClick={() => setAsked(deleted)}
                >
                  Restore
                </Button>
              ),
          },
        ]}
        empty={
          <EmptyState
            icon={<Trash2 size={36} aria-hidden />}
            title={prefix === '' ? `No deleted ${many}` : `No deleted ${type} starts with “${prefix}”`}
            snippet={`svcctl undelete list svc://${repository.id}`}
          >
            A deleted {type} stays here for a while and can be brought back where it pointed last.
          </EmptyState>
        }
      />
      {asked !== undefined && (
        <RestoreDialog asked={{ ...asked, moveId: asked.move_id }} onClose={() => setAsked(undefined)} />
      )}
    </>
  );
}
