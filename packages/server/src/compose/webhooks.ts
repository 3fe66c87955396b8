import { eventPermission } from '@svc/api';
import { AuthError, type Auth, type User } from '@svc/auth';
import { Deliveries, EventLog, Subscriptions, SubscriptionStore, Webhooks, type MayRead } from '@svc/events';
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
  readonly installationId: string;
}

function webhooksOf({ config, auth, installationId }: WebhookParts): Webhooks {
  const { allowed_networks: allowedNetworks } = config.events.webhooks;
  return new Webhooks({ allowedNetworks, secrets: auth.webhookSecrets, installationId });
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
    permissionOf: (owner) => permissionOf(auth, owner),
    clock: Date.now,
    random: Math.random,
    logger,
    onAttempt: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
  });
}

async function permissionOf(auth: Auth, owner: string): Promise<MayRead | undefined> {
  let user: User;
  try {
    user = await auth.users.get(owner);
  } catch (error) {
    if (error instanceof AuthError && error.kind === 'not_found') return undefined;
    throw error;
  }
  return eventPermission(auth, { user, method: 'bearer' }, nowhere);
}
