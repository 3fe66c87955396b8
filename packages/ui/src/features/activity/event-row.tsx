import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Time } from '../../kit/basics.tsx';
import type { SvcEvent } from '../../lib/event-stream.ts';

/** What happened, by whom and when, in one line. */
export function EventRow({
  event,
  showRepository,
  showCommit = true,
}: {
  event: SvcEvent;
  showRepository: boolean;
  showCommit?: boolean;
}): ReactNode {
  const repo = event.source.startsWith('/repositories/')
    ? event.source.slice('/repositories/'.length)
    : undefined;
  const { user, kind, new_commit_id: commit } = event.data as Record<string, string | undefined>;
  const [, about = '', name = ''] = event.type.split('.');
  return (
    <li className="row nowrap">
      <span className="ellipsis">
        <span className="strong">{user === undefined || user === '' ? 'svc' : user}</span> {about}{' '}
        {name === 'moved' && kind !== undefined ? kind : name.replaceAll('_', ' ')}{' '}
        {event.subject !== undefined && <span className="mono">{event.subject}</span>}
        {showRepository && repo !== undefined && (
          <>
            {' in '}
            <Link className="underlined" to="/repositories/$repo/objects" params={{ repo }}>
              {repo}
            </Link>
          </>
        )}
      </span>
      <span className="right" />
      {showCommit && repo !== undefined && commit !== undefined && (
        <Link
          className="mono small hide-narrow"
          to="/repositories/$repo/commits/$commitId"
          params={{ repo, commitId: commit }}
        >
          {commit.slice(0, 12)}
        </Link>
      )}
      <span className="small muted rigid">
        <Time seconds={Math.floor(Date.parse(event.time) / 1000)} />
      </span>
    </li>
  );
}
