import { Button, SegmentedControl, Table } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError } from '@svc/client';
import { ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import { saveFile } from '../../kit/secret-card.tsx';
import { client } from '../../lib/api.ts';
import { formatBytes } from '../../lib/format.ts';
import { classNames } from './garbage-classes.ts';

const kinds = {
  condemned: 'Waiting',
  deleted: 'Deleted',
  kept: 'Kept at the last moment',
  failed: 'Refused by the store',
} as const;

type Kind = keyof typeof kinds;

const shownAtOnce = 50;
const fetchedAtOnce = 1000;

function fetchObjects(repository: string, run: string, kind: Kind, after: string, amount: number) {
  return client.get('/repositories/{repository}/gc/runs/{run}/objects', {
    params: { path: { repository, run }, query: { kind, after, amount } },
  });
}

/** The whole list, as `svcctl gc report --objects` writes it. */
async function download(repository: string, run: string, kind: Kind): Promise<void> {
  const lines: string[] = [];
  for (let after = ''; ;) {
    const { results, pagination } = await fetchObjects(repository, run, kind, after, fetchedAtOnce);
    lines.push(...results.map((item) => `${item.address}\t${item.size_bytes}\t${item.class}\n`));
    if (!pagination.has_more) break;
    after = pagination.next_offset;
  }
  saveFile(`${repository}-${run}-${kind}.tsv`, lines.join(''));
}

/** The objects of a run by what became of them. */
export function CollectionObjects({
  repository,
  run,
}: {
  readonly repository: string;
  readonly run: string;
}): ReactNode {
  const [kind, setKind] = useState<Kind>('condemned');
  const list = useInfiniteQuery({
    queryKey: ['gc-objects', repository, run, kind],
    initialPageParam: '',
    queryFn: ({ pageParam }) => fetchObjects(repository, run, kind, pageParam, shownAtOnce),
    getNextPageParam: ({ pagination }) => (pagination.has_more ? pagination.next_offset : undefined),
  });
  const save = useMutation({ mutationFn: (wanted: Kind) => download(repository, run, wanted) });
  const isGone = list.error instanceof ApiError && list.error.status === 410;
  const rows = list.data?.pages.flatMap(({ results }) => results) ?? [];
  return (
    <>
      <h3>Objects</h3>
      <div className="row">
        <SegmentedControl
          size="xs"
          aria-label="Objects that were"
          value={kind}
          onChange={(value) => setKind(value as Kind)}
          data={Object.entries(kinds).map(([value, label]) => ({ value, label }))}
        />
        {rows.length > 0 && (
          <span className="right">
            <Button
              variant="default"
              size="compact-sm"
              loading={save.isPending}
              onClick={() => save.mutate(kind)}
            >
              Download list
            </Button>
          </span>
        )}
      </div>
      {save.error !== null && <ErrorNotice error={save.error} />}
      {isGone && <div className="muted">This list is no longer stored</div>}
      {list.error !== null && !isGone && (
        <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
      )}
      {list.isPending && <Skeletons rows={2} />}
      {list.isSuccess && rows.length === 0 && <div className="muted">None</div>}
      {rows.length > 0 && (
        <div className="scrolls-sideways" tabIndex={0} role="group" aria-label="Objects">
          <Table>
            <Table.Thead>
              <Table.Tr>
                {['Address', 'Size', 'Class'].map((name) => (
                  <Table.Th key={name}>{name}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((item) => (
                <Table.Tr key={item.address}>
                  <Table.Td>
                    <code>{item.address}</code>
                  </Table.Td>
                  <Table.Td>{formatBytes(item.size_bytes)}</Table.Td>
                  <Table.Td>{classNames[item.class] ?? item.class}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {list.hasNextPage && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show more
          </Button>
        </div>
      )}
    </>
  );
}
