import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../lib/api.ts';
import { RunStatus } from './run-status.tsx';

const mostShown = 10;

/** The runs of hooks that a commit caused, as facts of it; nothing when there are none or they may not be seen. */
export function CommitRuns({ repository, commitId }: { repository: string; commitId: string }): ReactNode {
  const { data } = useQuery({
    queryKey: ['commit-runs', repository, commitId],
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/actions/runs', {
        params: { path: { repository }, query: { commit: commitId, amount: mostShown } },
        signal,
      }),
  });
  if (data === undefined || data.results.length === 0) return null;
  return (
    <>
      <dt>Actions</dt>
      <dd className="row">
        {data.results.map((run) => (
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
