import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EmptyState, Time } from '../../kit/basics.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Commit } from '../../lib/api.ts';
import { summaryOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** The commits that changed one object, each with the object as it was. */
export function PathHistory({ refName, path }: { refName: string; path: string }): ReactNode {
  const repository = useRepository();
  const list = usePagedList<Commit>(
    ['history', repository.id, refName, path],
    async (after, amount, signal) =>
      toPage(
        await client.get('/repositories/{repository}/refs/{ref}/commits', {
          params: {
            path: { repository: repository.id, ref: refName },
            query: { after, amount, objects: [path] },
          },
          signal,
        }),
      ),
  );
  const params = { repo: repository.id };
  return (
    <VirtualList
      label={`History of ${path}`}
      noun="commits"
      list={list}
      rowHeight={52}
      header={false}
      columns={[
        {
          name: 'Commit',
          width: 'minmax(0, 1fr)',
          cell: (commit) => (
            <div>
              <Link
                data-row-link
                className="ellipsis"
                to="/repositories/$repo/commits/$commitId"
                params={{ ...params, commitId: commit.id }}
              >
                {summaryOf(commit.message)}
              </Link>
              <div className="small muted">
                {commit.committer !== '' && `${commit.committer}, `}
                <Time seconds={commit.creation_date} />
              </div>
            </div>
          ),
        },
        {
          name: 'Version',
          width: '230px',
          className: 'num small',
          cell: (commit) => (
            <>
              <Link to="/repositories/$repo/object" params={params} search={{ ref: commit.id, path }}>
                this version
              </Link>{' '}
              ·{' '}
              <Link
                to="/repositories/$repo/compare"
                params={params}
                search={{ ref: commit.id, compare: refName, mode: 'two-dot', file: path }}
              >
                compare with now
              </Link>
            </>
          ),
        },
      ]}
      empty={<EmptyState title="Not committed yet">The object is on the branch but in no commit.</EmptyState>}
    />
  );
}
