import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, ExactTime, Tag, Time } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { DeletedRepository } from '../../lib/api.ts';
import { secondsOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { useWrite } from '../../lib/queries.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';

/** Deleted repositories, to bring back whole or to remove for good. */
export function DeletedRepositories({
  prefix,
  onOpen,
}: {
  prefix: string;
  onOpen: (id: string) => void;
}): ReactNode {
  const [purging, setPurging] = useState<DeletedRepository>();
  const list = usePagedList<DeletedRepository>(
    ['deleted-repositories', prefix],
    async (after, amount, signal) =>
      toPage(
        await client.get('/deleted_repositories', { params: { query: { prefix, after, amount } }, signal }),
      ),
  );
  const restore = useWrite(
    ({ instance }: DeletedRepository) =>
      client.post('/deleted_repositories/{instance}/restore', { params: { path: { instance } } }),
    ({ id }) => {
      notifications.show({ message: `Repository ${id} is back` });
      onOpen(id);
    },
  );
  const purge = useWrite(
    ({ instance }: DeletedRepository) =>
      client.delete('/deleted_repositories/{instance}', { params: { path: { instance } } }),
    () => setPurging(undefined),
  );
  return (
    <>
      {restore.error !== null && (
        <div className="box-body">
          <ErrorNotice error={restore.error} />
        </div>
      )}
      <VirtualList
        label="Deleted repositories"
        noun="repositories"
        list={list}
        rowHeight={60}
        columns={[
          {
            name: 'Repository',
            width: 'minmax(0, 1fr)',
            cell: ({ id, displaced_by, deleted_by, deleted_at }) => (
              <div>
                <div className="row nowrap">
                  <strong className="ellipsis">{id}</strong>
                  {displaced_by !== undefined && <Tag kind="changed">replaced by {displaced_by}</Tag>}
                </div>
                <div className="small muted ellipsis">
                  deleted by {deleted_by}, <Time seconds={secondsOf(deleted_at)} />
                </div>
              </div>
            ),
          },
          {
            name: 'Storage namespace',
            width: 'minmax(0, 1fr)',
            wide: true,
            className: 'small muted ellipsis mono',
            cell: ({ storage_namespace }) => storage_namespace,
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
            width: '124px',
            className: 'num',
            cell: (deleted) => (
              <span className="row nowrap end closest">
                <Button
                  variant="default"
                  size="compact-sm"
                  aria-label={`Restore ${deleted.id}`}
                  loading={restore.isPending && restore.variables?.instance === deleted.instance}
                  onClick={() => restore.mutate(deleted)}
                >
                  Restore
                </Button>
                <Button
                  variant="subtle"
                  color="gray"
                  size="compact-sm"
                  aria-label={`Remove ${deleted.id} for good`}
                  onClick={() => setPurging(deleted)}
                >
                  <Trash2 size={15} aria-hidden />
                </Button>
              </span>
            ),
          },
        ]}
        empty={
          <EmptyState
            icon={<Trash2 size={36} aria-hidden />}
            title={
              prefix === '' ? 'No deleted repositories' : `No deleted repository starts with “${prefix}”`
            }
            snippet="svcctl undelete list --repos"
          >
            A deleted repository stays here for a while and can be brought back whole.
          </EmptyState>
        }
      />
      {purging !== undefined && (
        <ConfirmDialog
          opened
          onClose={() => setPurging(undefined)}
          title={`Remove ${purging.id} for good`}
          action="Remove for good"
          typed={purging.id}
          busy={purge.isPending}
          error={purge.error}
          onSubmit={() => purge.mutate(purging)}
        >
          Its commits, branches, tags and pull requests can then no longer be brought back. The objects stay
          at <code className="wrap">{purging.storage_namespace}</code>.
        </ConfirmDialog>
      )}
    </>
  );
}
