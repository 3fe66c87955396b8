import { useEffect, useState } from 'react';
import { followEvents, type SvcEvent } from '../../lib/event-stream.ts';
import { lastEvents } from './last-events.ts';

/** Events on the page; older ones are dropped. */
const kept = 500;

export interface Activity {
  /** Newest first; undefined until the first are there. */
  readonly events: readonly SvcEvent[] | undefined;
  readonly state: 'live' | 'waiting';
  readonly error: unknown;
}

/** The last events and those that come. With other arguments it needs a fresh component. */
export function useActivity(repository: string | undefined, types: string): Activity {
  const [activity, setActivity] = useState<Activity>({
    events: undefined,
    state: 'waiting',
    error: undefined,
  });
  useEffect(() => {
    const stop = new AbortController();
    const wanted = types === '' ? [] : types.split(',');
    const add = (events: readonly SvcEvent[]): void =>
      setActivity((now) => ({ ...now, events: merged(now.events ?? [], events) }));
    void followEvents({
      path: repository === undefined ? '/api/v1/events' : `/api/v1/repositories/${repository}/events`,
      types: wanted,
      signal: stop.signal,
      onStart: (position) => {
        lastEvents({ repository, types: wanted, position, count: kept }, stop.signal).then(
          add,
          (error: unknown) => {
            if (!stop.signal.aborted) setActivity((now) => ({ ...now, error }));
          },
        );
      },
      onEvent: (event) => add([event]),
      onState: (state) => setActivity((now) => ({ ...now, state })),
    });
    return () => stop.abort();
  }, [repository, types]);
  return activity;
}

function merged(now: readonly SvcEvent[], more: readonly SvcEvent[]): readonly SvcEvent[] {
  const bySequence = new Map([...now, ...more].map((event) => [event.sequence, event]));
  return [...bySequence.values()]
    .sort((left, right) => (left.sequence < right.sequence ? 1 : -1))
    .slice(0, kept);
}
