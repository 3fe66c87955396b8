import { ActionIcon } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ListFilter } from 'lucide-react';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { Time } from '../../kit/basics.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { ActionRun } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { secondsOf } from '../pulls/pull-state.tsx';
import { durationOf, RunStatus } from './run-status.tsx';

export interface RunFilter {
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly event?: string | undefined;
  readonly status?: string | undefined;
}

/** The results a run can have. */
export const runResults = ['completed', 'failed', 'running'] as const;

/** How often the list is loaded again while some have not ended. */
const lookMs = 3000;

/** Runs of hooks, newest first. */
export function RunsList({
  repository,
  filter,
  onFilter,
  empty,
}: {
  repository: string;
  filter: RunFilter;
  onFilter: (filter: RunFilter) => void;
  empty: ReactNode;
}): ReactNode {
  const { branch = '', commit = '', event = '' } = filter;
  const status = runResults.find((known) => known === filter.status);
  const isLive = useRef(false);
  const list = usePagedList<ActionRun>(
    ['runs', repository, branch, commit, event, status ?? ''],
    async (after, amount, signal) => {
      const query = { after, amount, branch, commit, event };
      const ask = (wanted: typeof status) =>
        client.get('/repositories/{repository}/actions/runs', {
          params: {
            path: { repository },
            query: { ...query, ...(wanted === undefined ? {} : { status: wanted }) },
          },
          signal,
        });
      // Those that have not ended are listed only when they are asked for.
      const isFirst = after === '' && status === undefined;
      const [running, page] = await Promise.all([isFirst ? ask('running') : undefined, ask(status)]);
      // One that ended between the two questions is in both answers.
      const ended = new Set(page.results.map((run) => run.run_id));
      const live = (running?.results ?? []).filter((run) => !ended.has(run.run_id));
      const results = [...live, ...page.results];
      if (after === '') isLive.current = results.some((run) => run.status === 'running');
      return toPage({ ...page, results });
    },
  );
  useEffect(() => {
    const timer = setInterval(() => {
      if (isLive.current) list.reload();
    }, lookMs);
    return () => clearInterval(timer);
  }, [list]);
  const only = (label: string, wanted: RunFilter): ReactNode => (
    <ActionIcon
      variant="subtle"
      color="gray"
      size={22}
      aria-label={`Only runs of ${label}`}
      onClick={() => onFilter(wanted)}
    >
      <ListFilter size={13} />
    </ActionIcon>
  );
  return (
    <VirtualList
      label="Runs"
      noun="runs"
      list={list}
      rowHeight={44}
      columns={[
        { name: 'Status', width: '112px', cell: ({ status }) => <RunStatus status={status} /> },
        {
          name: 'Run',
          width: 'minmax(0, 1fr)',
          cell: (run) => (
            <span className="row nowrap">
              <Link
                data-row-link
                className="ellipsis"
                to="/repositories/$repo/actions/$runId"
                params={{ repo: repository, runId: run.run_id }}
              >
                <strong>{run.event_type}</strong> <span className="mono small">{run.run_id}</span>
              </Link>
            </span>
          ),
        },
        {
          name: 'Branch',
          width: 'minmax(0, 180px)',
          wide: true,
          cell: ({ branch: name }) =>
            name !== '' && (
              <span className="row nowrap">
                <span className="ellipsis">{name}</span>
                {only(name, { ...filter, branch: name, commit: undefined })}
              </span>
            ),
        },
        {
          name: 'Commit',
          width: '150px',
          wide: true,
          cell: ({ commit_id: id }) =>
            id !== '' && (
              <span className="row nowrap">
                <Link
                  className="mono"
                  to="/repositories/$repo/commits/$commitId"
                  params={{ repo: repository, commitId: id }}
                >
                  {shortId(id)}
                </Link>
                {only(shortId(id), { ...filter, commit: id, branch: undefined })}
              </span>
            ),
        },
        {
          name: 'Started',
          width: '120px',
          cell: ({ start_time: start }) => <Time seconds={secondsOf(start)} />,
        },
        {
          name: 'Took',
          width: '90px',
          wide: true,
          cell: ({ start_time: start, end_time: end }) => durationOf(start, end),
        },
      ]}
      empty={empty}
    />
  );
}
