import { Checkbox, CloseButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { client } from '../../lib/api.ts';
import { usePreference } from '../../lib/use-preference.ts';

interface Step {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

/** A walk through what svc is for, on the sample repository. */
const steps: readonly Step[] = [
  {
    id: 'query',
    title: 'Ask the data something',
    text: 'Open the table and run the query.',
    to: '/repositories/$repo/object',
    search: { path: 'weather.parquet', tab: 'sql' },
  },
  {
    id: 'branch',
    title: 'Create a branch',
    text: 'A copy of everything that costs nothing.',
    to: '/repositories/$repo/branches',
    search: {},
  },
  {
    id: 'change',
    title: 'Change something on it',
    text: 'Switch to your branch, upload a file or edit one, then commit.',
    to: '/repositories/$repo/objects',
    search: {},
  },
  {
    id: 'diff',
    title: 'See the difference',
    text: 'Choose your branch as the head.',
    to: '/repositories/$repo/compare',
    search: {},
  },
  {
    id: 'merge',
    title: 'Merge it',
    text: 'Press Merge on the same page: all changes arrive at once.',
    to: '/repositories/$repo/compare',
    search: {},
  },
  {
    id: 'back',
    title: 'Go back',
    text: 'Open the merge and choose Revert: nothing is ever lost.',
    to: '/repositories/$repo/commits',
    search: {},
  },
];

const sample = 'quickstart';

/** The guided tour. It is taken up where it was left, and ends when it is closed. */
export function FirstSteps(): ReactNode {
  const [done, setDone] = usePreference<string>('first-steps', '');
  const isOver = done === 'over';
  const { data: repo } = useQuery({
    queryKey: ['sample-repository'],
    queryFn: async () =>
      (await client.get('/repositories', { params: { query: { prefix: sample, amount: 1 } } })).results[0]
        ?.id,
    enabled: !isOver,
    staleTime: 60_000,
  });
  if (isOver || repo !== sample) return null;
  const taken = new Set(done.split(',').filter((id) => id !== ''));
  return (
    <section className="box" aria-label="First steps">
      <div className="box-head">
        <h2>First steps</h2>
        <span className="small muted">
          {taken.size} of {steps.length}
        </span>
        <CloseButton className="right" aria-label="End the tour" onClick={() => setDone('over')} />
      </div>
      <ol className="plain-list">
        {steps.map(({ id, title, text, to, search }) => (
          <li key={id} className="row nowrap top">
            <Checkbox
              size="xs"
              mt={3}
              aria-label={`Done: ${title}`}
              checked={taken.has(id)}
              onChange={({ currentTarget: { checked } }) => {
                const others = [...taken].filter((other) => other !== id);
                setDone((checked ? [...others, id] : others).join(','));
              }}
            />
            <div>
              <Link to={to} params={{ repo: sample } as never} search={search as never}>
                {title}
              </Link>
              <div className="small muted">{text}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
