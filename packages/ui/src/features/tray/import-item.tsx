import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import { formatCount } from '../../lib/format.ts';
import { refreshAll, useWrite } from '../../lib/queries.ts';
import { forgetImport } from '../../lib/works.ts';
import type { ImportWork } from '../../lib/works.ts';

/** One import: how far it is, and its commit. */
export function ImportItem({ work }: { work: ImportWork }): ReactNode {
  const { repository, branch, id } = work;
  const path = { repository, branch };
  const { data: status, error } = useQuery({
    queryKey: ['import', repository, branch, id],
    queryFn: () =>
      client.get('/repositories/{repository}/branches/{branch}/import', { params: { path, query: { id } } }),
    // The interval grows from one second to five; a hidden page does not poll.
    refetchInterval: (query) =>
      query.state.data?.completed === true ||
      query.state.data?.error !== undefined ||
      query.state.error !== null
        ? false
        : Math.min(5000, 1000 + query.state.dataUpdateCount * 250),
  });
  const cancel = useWrite(
    () =>
      client.delete('/repositories/{repository}/branches/{branch}/import', {
        params: { path, query: { id } },
      }),
    () => forgetImport(work),
  );
  const done = status?.completed === true;
  const failed = status?.error !== undefined || error !== null;
  useEffect(() => {
    if (done) void refreshAll();
  }, [done]);
  return (
    <div className="stack tight" role="status">
      <div>
        Import into{' '}
        <Link
          className="underlined"
          to="/repositories/$repo/objects"
          params={{ repo: repository }}
          search={{ ref: branch }}
        >
          {branch}
        </Link>{' '}
        of {repository}
      </div>
      {error !== null && <ErrorNotice error={error} />}
      {status?.error !== undefined && (
        <Notice kind="error" title="The import failed">
          {status.error.message}
        </Notice>
      )}
      {!failed && (
        <Notice kind={done ? 'good' : 'info'} title={done ? 'The import is done' : 'Importing …'}>
          {formatCount(status?.ingested_objects ?? 0)} objects
        </Notice>
      )}
      {cancel.error !== null && <ErrorNotice error={cancel.error} />}
      <div className="row">
        {status?.commit !== undefined && (
          <Button
            size="compact-sm"
            variant="default"
            component={Link}
            to="/repositories/$repo/commits/$commitId"
            params={{ repo: repository, commitId: status.commit.id } as never}
            onClick={() => forgetImport(work)}
          >
            See the commit
          </Button>
        )}
        {done || failed ? (
          <Button size="compact-sm" variant="default" onClick={() => forgetImport(work)}>
            Close
          </Button>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            loading={cancel.isPending}
            onClick={() => cancel.mutate(undefined)}
          >
            Cancel import
          </Button>
        )}
      </div>
    </div>
  );
}
