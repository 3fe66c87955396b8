import { useQuery } from '@tanstack/react-query';
import { ArrowLeft, GitBranch, GitCommitHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { client } from '../lib/api.ts';
import { shortId, summaryOf } from '../lib/format.ts';
import { ErrorNotice, Skeletons } from './basics.tsx';

const shownCommits = 100;

/** The latest commits of a branch, to look at the data as it was. */
export function CommitChoice({
  repository,
  branch,
  onBack,
  onChoose,
}: {
  repository: string;
  branch: string;
  onBack: () => void;
  onChoose: (ref: string) => void;
}): ReactNode {
  const { data, error } = useQuery({
    queryKey: ['commit-choice', repository, branch],
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/refs/{ref}/commits', {
        params: { path: { repository, ref: branch }, query: { amount: shownCommits } },
        signal,
      }),
  });
  return (
    <div>
      <button type="button" className="plain pick" data-autofocus onClick={onBack}>
        <ArrowLeft size={15} aria-hidden /> All branches
      </button>
      <div className="choices">
        <button type="button" className="plain pick" onClick={() => onChoose(branch)}>
          <GitBranch size={15} aria-hidden />
          <span className="ellipsis grow">{branch}</span>
          <span className="small muted">with uncommitted changes</span>
        </button>
        {error !== null && <ErrorNotice error={error} />}
        {data === undefined && error === null && <Skeletons rows={3} />}
        {data?.results.map((commit) => (
          <button key={commit.id} type="button" className="plain pick" onClick={() => onChoose(commit.id)}>
            <GitCommitHorizontal size={15} aria-hidden />
            <span className="ellipsis grow">{summaryOf(commit.message)}</span>
            <span className="mono muted">{shortId(commit.id)}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
