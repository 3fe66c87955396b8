import { client } from '../../lib/api.ts';
import { followEvents } from '../../lib/event-stream.ts';
import type { SvcEvent } from '../../lib/event-stream.ts';

interface Wanted {
  readonly repository: string | undefined;
  readonly types: string[];
  /** The number of the last event. */
  readonly position: number;
  /** How far back. */
  readonly count: number;
}

/** What happened up to a number. */
export async function lastEvents(
  { repository, types, position, count }: Wanted,
  signal: AbortSignal,
): Promise<readonly SvcEvent[]> {
  const from = position - count;
  const query = { amount: count, types, ...(from > 0 && { after: String(from) }) };
  const page =
    repository === undefined
      ? await client.get('/events', { params: { query }, signal })
      : await client.get('/repositories/{repository}/events', {
          params: { path: { repository }, query },
          signal,
        });
  return page.results;
}

/** The last events of everything, newest first. A stream says where the end is and is closed at once. */
export async function lastActivity(count: number, signal: AbortSignal): Promise<readonly SvcEvent[]> {
  const stop = new AbortController();
  const position = await new Promise<number>((resolve, reject) => {
    signal.addEventListener('abort', () => stop.abort(), { once: true });
    stop.signal.addEventListener('abort', () => reject(new Error('nobody waits any more')), { once: true });
    void followEvents({
      path: '/api/v1/events',
      types: [],
      signal: stop.signal,
      onStart: resolve,
      onEvent: () => undefined,
      onState: () => undefined,
    });
  });
  stop.abort();
  // Not every event may be read: look a little further back than is shown.
  const events = await lastEvents({ repository: undefined, types: [], position, count: count * 5 }, signal);
  return [...events].sort((left, right) => Date.parse(right.time) - Date.parse(left.time)).slice(0, count);
}
