import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Time } from '../../kit/basics.tsx';
import { shortId, summaryOf } from '../../lib/format.ts';
import { commitQuery } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** The commit a ref points to: id, message, who and when. */
export function CommitLine({ commitId }: { commitId: string }): ReactNode {
  const repository = useRepository();
  const { data } = useQuery(commitQuery(repository.id, commitId));
  return (
    <div className="small muted ellipsis">
      <Link
        className="mono"
        to="/repositories/$repo/commits/$commitId"
        params={{ repo: repository.id, commitId }}
      >
        {shortId(commitId)}
      </Link>{' '}
      {data !== undefined && (
        <>
          {summaryOf(data.message)} · {data.committer !== '' && `${data.committer}, `}
          <Time seconds={data.creation_date} />
        </>
      )}
    </div>
  );
}
