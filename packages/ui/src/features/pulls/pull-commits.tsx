import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorNotice, Time } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { Commit } from '../../lib/api.ts';
import { plural, shortId, summaryOf } from '../../lib/format.ts';
import { useRepository } from '../shell/repository-context.tsx';

const shownCommits = 100;

interface Ends {
  readonly source: string;
  readonly destination: string;
}

/** The newest commits that only the source has. */
async function commitsOf(repository: string, { source, destination }: Ends): Promise<Commit[]> {
  const log = async (ref: string, amount: number): Promise<Commit[]> =>
    (
      await client.get('/repositories/{repository}/refs/{ref}/commits', {
        params: { path: { repository, ref }, query: { amount, limit: true } },
      })
    ).results;
  const { left: count } = await client.get(
    '/repositories/{repository}/refs/{leftRef}/divergence/{rightRef}',
    { params: { path: { repository, leftRef: source, rightRef: destination } } },
  );
  if (count === 0) return [];
  const known = new Set((await log(destination, 1000)).map(({ id }) => id));
  const own = (await log(source, 1000)).filter(({ id }) => !known.has(id));
  return own.slice(0, Math.min(count, shownCommits));
}

/** The commits that a pull request brings or brought. */
export function PullCommits(ends: Ends): ReactNode {
  const { id: repo } = useRepository();
  const { data, error } = useQuery({
    queryKey: ['pull-commits', repo, ends.source, ends.destination],
    queryFn: () => commitsOf(repo, ends),
  });
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === undefined || data.length === 0) return null;
  return (
    <section className="box" aria-label="Commits">
      <div className="box-head">
        <h2>{plural(data.length, 'commit')}</h2>
      </div>
      <ul className="plain-list">
        {data.map((commit) => (
          <li key={commit.id} className="row nowrap">
            <Link
              className="ellipsis"
              to="/repositories/$repo/commits/$commitId"
              params={{ repo, commitId: commit.id }}
            >
              {summaryOf(commit.message)}
            </Link>
            <span className="right small muted num">
              {commit.committer !== '' && `${commit.committer}, `}
              <Time seconds={commit.creation_date} />{' '}
              <span className="mono hide-narrow">{shortId(commit.id)}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
