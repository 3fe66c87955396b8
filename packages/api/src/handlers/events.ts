import type { Operations, QueryOf } from '@svc/contract';
import { cloudEvent, EventFilter, readEvents, type MayRead } from '@svc/events';
import { Answer } from '../answer/answer.ts';
import type { Call, HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import { eventPermission } from './shared/event-permission.ts';

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'close',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
} as const;
const defaultAmount = 100;
/** How long a stream goes on before its caller is asked for again. */
const identityMs = 30_000;

type EventsCall = Pick<Call, 'identity' | 'client' | 'request' | 'requestId'> & {
  readonly query: QueryOf<Operations['listEvents']>;
  readonly headers: { readonly 'last-event-id'?: string };
};

export function eventHandlers({ auth, events }: ApiOptions): HandlersOf<'events'> {
  /** Undefined once the caller could not make the request any more. */
  const lastingPermission = (call: EventsCall): (() => Promise<MayRead | undefined>) => {
    let { identity } = call;
    let checkedAt = Date.now();
    const { request, client, requestId } = call;
    return async () => {
      if (Date.now() - checkedAt >= identityMs) {
        checkedAt = Date.now();
        const head = { method: request.method ?? '', headers: request.headers, client, requestId };
        const found = await auth.authenticate(head).catch(() => undefined);
        if (found === undefined) return undefined;
        identity = found;
      }
      return eventPermission(auth, identity, client);
    };
  };

  const list = async (call: EventsCall, repository: string | undefined) => {
    if (events === undefined) throw new RequestError(501, 'Not Implemented');
    const { query } = call;
    const { types, subject, user } = query;
    const filter = new EventFilter({ repository, types, subject, user, showHidden: query.show_hidden });
    if (wantsStream(call)) {
      const after =
        cursorOf(call.headers['last-event-id'], 'Last-Event-ID') ?? cursorOf(query.after, 'after');
      const stream = await events.streams.start({ after, filter, permission: lastingPermission(call) });
      return new Answer(200, streamHeaders, stream);
    }
    const asked = query.amount ?? defaultAmount;
    await events.follow?.();
    const page = await readEvents(events.log, {
      after: cursorOf(query.after, 'after'),
      amount: asked < 0 ? defaultAmount : asked,
      filter,
      mayRead: await eventPermission(auth, call.identity, call.client),
    });
    return {
      pagination: {
        has_more: page.hasMore,
        // Also at the end: whoever asks again goes on from there.
        next_offset: String(page.position),
        results: page.events.length,
        max_per_page: 1000,
      },
      results: page.events.map(({ event, sequence }) => cloudEvent(event, sequence, events.installationId)),
    };
  };

  return {
    listEvents: (call) => list(call, undefined),
    listRepositoryEvents: (call) => list(call, call.params.repository),
  };
}

function wantsStream({ request }: EventsCall): boolean {
  return (request.headers.accept ?? '').includes('text/event-stream');
}

function cursorOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined || text === '') return undefined;
  if (!/^\d{1,20}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw new RequestError(400, `${name}: '${text}' is no sequence number of an event`);
  }
  return Number(text);
}
