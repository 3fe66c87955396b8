import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { recentRepositories } from '../../lib/preferences.ts';
import { EventRow } from '../activity/event-row.tsx';
import { lastActivity } from '../activity/last-events.ts';
import { FirstSteps } from './first-steps.tsx';

const shownEvents = 8;

/** Beside the repositories: where one was, what happened, and how to begin. */
export function HomeAside(): ReactNode {
  const recent = recentRepositories();
  const { data: events } = useQuery({
    queryKey: ['home-activity'],
    queryFn: ({ signal }) => lastActivity(shownEvents, signal),
    staleTime: 60_000,
  });
  return (
    <aside className="home-aside stack" aria-label="Where to go on">
      <FirstSteps />
      {recent.length > 0 && (
        <section className="box" aria-label="Recent repositories">
          <div className="box-head">
            <h2>Recent</h2>
          </div>
          <ul className="plain-list">
            {recent.map((repo) => (
              <li key={repo}>
                <Link to="/repositories/$repo/objects" params={{ repo }} className="ellipsis block">
                  {repo}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {events !== undefined && events.length > 0 && (
        <section className="box" aria-label="Activity">
          <div className="box-head">
            <h2>Activity</h2>
            <Link className="right small" to="/activity">
              All of it
            </Link>
          </div>
          <ul className="plain-list small events">
            {events.map((event) => (
              <EventRow key={event.sequence} event={event} showRepository showCommit={false} />
            ))}
          </ul>
        </section>
      )}
    </aside>
  );
}
