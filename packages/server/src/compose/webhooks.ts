import { eventPermission } from '@svc/api';
import { AuthError, type Auth, type User } from '@svc/auth';
import type { SubscriptionData } from '@svc/encoding';
import type { Engine } from '@svc/engine';
import {
  Deliveries,
  EventLog,
  Subscriptions,
  SubscriptionStore,
  Webhooks,
  type MayRead,
  type ObjectChange,
} from '@svc/events';
import type { KvStore } from '@svc/kv';
import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** Subscriptions act without a request, so without an address. */
const nowhere = { ip: '[internal (webhook)]', secure: true };

interface WebhookParts {
  readonly config: Config;
  readonly kv: KvStore;
  readonly auth: Auth;
  readonly engine: Engine;
  readonly installationId: string;
}

function webhooksOf({ config, auth, engine, installationId }: WebhookParts): Webhooks {
  const { allowed_networks: allowedNetworks } = config.events.webhooks;
  return new Webhooks({
    allowedNetworks,
    secrets: auth.webhookSecrets,
    installationId,
    changesBetween: (...between) => changesBetween(engine, ...between),
  });
}

async function* changesBetween(
  engine: Engine,
  repository: string,
  left: string,
  right: string,
): AsyncGenerator<ObjectChange> {
  let after = '';
  for (;;) {
    const page = await engine.refs.diff({ repository, left, right, type: 'two_dot', after });
    for (const { type, path, size = 0, stats } of page.items) {
      yield { type: type === 'removed' ? 'removed' : 'written', path, size, etag: stats?.etag ?? '' };
    }
    if (!page.hasMore) return;
    after = page.nextOffset;
  }
}

/** What users may do with subscriptions; undefined while webhooks are switched off. */
export function openSubscriptions(parts: WebhookParts, onChanged: () => void): Subscriptions | undefined {
  if (!parts.config.events.webhooks.enabled) return undefined;
  return new Subscriptions({
    store: new SubscriptionStore(parts.kv),
    log: new EventLog(parts.kv),
    webhooks: webhooksOf(parts),
    secrets: parts.auth.webhookSecrets,
    onChanged,
  });
}

/** Sends events to subscribers; undefined while webhooks are switched off. */
export function openDeliveries(
  parts: WebhookParts & { readonly logger: Logger; readonly metrics: Metrics },
): Deliveries | undefined {
  const { config, kv, auth, logger, metrics } = parts;
  if (!config.events.webhooks.enabled) return undefined;
  const webhooks = webhooksOf(parts);
  return new Deliveries({
    store: new SubscriptionStore(kv),
    log: new EventLog(kv),
    send: (...args) => webhooks.send(...args),
    permissionOf: (subscription) => permissionOf(auth, subscription),
    clock: Date.now,
    random: Math.random,
    logger,
    onAttempt: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
  });
}

async function permissionOf(
  auth: Auth,
  { owner, format }: Pick<SubscriptionData, 'owner' | 'format'>,
): Promise<MayRead | undefined> {
  let user: User;
  try {
    user = await auth.users.get(owner);
  } catch (error) {
    if (error instanceof AuthError && error.kind === 'not_found') return undefined;
    throw error;
  }
  return eventPermission(auth, { user, method: 'bearer' }, nowhere, { showsObjects: format === 's3' });
}
