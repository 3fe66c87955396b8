import type { Subscriptions } from '@svc/events';
import { dateTimeView } from './time.ts';

export type StoredSubscription = Awaited<ReturnType<Subscriptions['get']>>;
type Progress = Awaited<ReturnType<Subscriptions['progress']>>;
type StoredDelivery = NonNullable<Awaited<ReturnType<Subscriptions['store']['delivery']>>>;
type Pending = StoredDelivery['data']['pending'][number];
type Dead = NonNullable<Awaited<ReturnType<Subscriptions['store']['findDead']>>>;

const mask = '******';

export function subscriptionView(data: StoredSubscription, progress: Progress, url: string) {
  const state = !data.enabled ? 'disabled' : progress.isFailing ? 'failing' : 'active';
  return {
    id: data.id,
    url,
    ...(data.repository !== '' && { repository: data.repository }),
    types: data.types,
    ...(data.subject !== '' && { subject: data.subject }),
    format: data.format === 's3' ? ('s3' as const) : ('cloudevents' as const),
    ordering: data.ordering === 'all' ? ('all' as const) : ('ref' as const),
    headers: Object.fromEntries(data.headerNames.map((name) => [name, mask])),
    ...(data.description !== '' && { description: data.description }),
    enabled: data.enabled,
    owner: data.owner,
    state,
    ...(data.disabledReason !== '' && { disabled_reason: data.disabledReason }),
    cursor: String(progress.cursor),
    lag: progress.lag,
    created_at: dateTimeView(data.createdAt),
  } as const;
}

/** Queries of web addresses often are secrets. */
export function maskedUrl(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? url : `${url.slice(0, at)}?${mask}`;
}

export function failingView(pending: Pending) {
  return {
    sequence: String(pending.sequence),
    state: 'failing' as const,
    attempts: pending.attempts,
    ...(pending.nextAttempt !== undefined && { next_attempt: dateTimeView(pending.nextAttempt) }),
    ...lastOf(pending),
  };
}

export function deadView(sequence: number, dead: Dead) {
  return { sequence: String(sequence), state: 'dead' as const, attempts: dead.attempts, ...lastOf(dead) };
}

function lastOf(of: { lastStatus: number; lastError: string; lastResponse: Buffer }) {
  return {
    ...(of.lastStatus !== 0 && { last_status: of.lastStatus }),
    ...(of.lastError !== '' && { last_error: of.lastError }),
    ...(of.lastResponse.length > 0 && { last_response: of.lastResponse.toString() }),
  };
}
