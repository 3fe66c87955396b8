import type { EventData } from '@svc/encoding';
import type { EventFilter } from './event-filter.ts';
import type { EventLog } from './event-log.ts';

/** A page that finds nothing ends here, and says where to go on. */
const maxExamined = 100_000;

export interface NumberedEvent {
  readonly sequence: number;
  readonly event: EventData;
}

export interface EventPage {
  readonly events: readonly NumberedEvent[];
  readonly hasMore: boolean;
  /** The number of the last event that was looked at. */
  readonly position: number;
}

/** Whether the caller may see an event. */
export type MayRead = (event: EventData) => boolean;

/** The next events after a number (undefined: from the oldest) that match and may be seen. */
export async function readEvents(
  log: EventLog,
  options: {
    readonly after?: number | undefined;
    readonly amount: number;
    readonly filter: EventFilter;
    readonly mayRead: MayRead;
  },
): Promise<EventPage> {
  const after = options.after ?? (await log.oldest()) - 1;
  const end = await log.checkCursor(after);
  const events: NumberedEvent[] = [];
  const last = Math.min(end - 1, after + maxExamined);
  let position = after;
  while (position < last) {
    const segment = await log.segmentWith(position + 1);
    // Trimmed meanwhile.
    if (segment === undefined) await log.checkCursor(position);
    if (segment === undefined) break;
    const stop = Math.min(segment.next - 1, last);
    if (!options.filter.mayMatch(segment)) {
      position = stop;
      continue;
    }
    while (position < stop) {
      const event = segment.events[position + 1 - segment.first];
      const isWanted = event !== undefined && options.filter.matches(event) && options.mayRead(event);
      if (isWanted && events.length === options.amount) return { events, hasMore: true, position };
      position += 1;
      if (isWanted) events.push({ sequence: position, event });
    }
  }
  return { events, hasMore: position < end - 1, position };
}
