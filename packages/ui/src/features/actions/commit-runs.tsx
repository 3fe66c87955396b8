import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../lib/api.ts';
import { RunStatus } from './run-status.tsx';

const mostShown = 10;
/** How often runs are looked at that have not ended. */
const lookMs = 3000;

/** The runs of hooks that a commit caused, as facts of it; nothing when there are none or they may not be seen. */
export function CommitRuns({ repository, commitId }: { repository: string; commitId: string }): ReactNode {
  const { data: runs = [] } = useQuery({
    queryKey: ['commit-runs', repository, commitId],
    queryFn: async ({ signal }) => {
      const list = (status?: 'running') =>
        client.get('/repositories/{repository}/actions/runs', {
          params: {
            path: { repository },
            query: { commit: commitId, amount: mostShown, ...(status === undefined ? {} : { status }) },
          },
          signal,
        });
      const [running, ended] = await Promise.all([list('running'), list()]);
      return [...running.results, ...ended.results];
    },
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'running') ? lookMs : false),
  });
  if (runs.length === 0) return null;
  return (
    <>
      <dt>Actions</dt>
      <dd className="row">
        {runs.map((run) => (
          <Link
            key={run.run_id}
            className="row"
            to="/repositories/$repo/actions/$runId"
            params={{ repo: repository, runId: run.run_id }}
          >
            {run.event_type} <RunStatus status={run.status} />
          </Link>
        ))}
      </dd>
    </>
  );
}

/** The runs of hooks about the newest commit of a ref. */
export function RefRuns({ repository, refId }: { repository: string; refId: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['newest-commit', repository, refId],
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/refs/{ref}/commits', {
        params: { path: { repository, ref: refId }, query: { amount: 1 } },
        signal,
      }),
  });
  const newest = data?.results[0];
  if (newest === undefined) return null;
  return (
    <dl className="facts">
      <CommitRuns repository={repository} commitId={newest.id} />
    </dl>
  );
}
