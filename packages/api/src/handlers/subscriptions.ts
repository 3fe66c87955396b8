import { arn, one, type Requirement } from '@svc/auth';
import { cloudEvent, type Subscriptions } from '@svc/events';
import type { Call, HandlersOf } from '../call.ts';
import type { ApiOptions, EventsOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import {
  deadView,
  failingView,
  maskedUrl,
  subscriptionView,
  type StoredSubscription,
} from '../views/subscription.ts';
import { paginationView } from '../views/page.ts';
import { eventPermission } from './shared/event-permission.ts';

type Caller = Pick<Call, 'identity' | 'client' | 'ensure'>;
type Access = 'fs:ReadSubscription' | 'fs:WriteSubscription';

export function subscriptionHandlers({ auth, events }: ApiOptions): HandlersOf<'subscriptions'> {
  const parts = (): EventsOptions & { readonly subscriptions: Subscriptions } => {
    if (events?.subscriptions === undefined) {
      throw new RequestError(501, 'webhooks are switched off (events.webhooks.enabled)');
    }
    return { ...events, subscriptions: events.subscriptions };
  };
  const requirement = (access: Access, repository: string): Requirement =>
    one(access, repository === '' ? arn.all : arn.repository(repository));

  /** The subscription, once it is known that the caller may do that to it. */
  const open = async (call: Caller, id: string, access: Access): Promise<StoredSubscription> => {
    const found = await parts().subscriptions.store.find(id);
    await call.ensure(requirement(access, found?.repository ?? ''));
    return found ?? parts().subscriptions.get(id);
  };
  const view = async (call: Caller, data: StoredSubscription) => {
    const mayWrite = requirement('fs:WriteSubscription', data.repository);
    const { allowed } = await auth.authorize(call.identity, mayWrite, call.client);
    const progress = await parts().subscriptions.progress(data.id);
    return subscriptionView(data, progress, allowed ? data.url : maskedUrl(data.url));
  };

  return {
    async createSubscription(call) {
      const { body, identity } = call;
      await call.ensure(requirement('fs:WriteSubscription', body.repository ?? ''));
      const { data, secret } = await parts().subscriptions.create(body, identity.user.username);
      return { ...(await view(call, data)), secret };
    },

    async listSubscriptions(call) {
      const { repository } = call.query;
      await call.ensure(requirement('fs:ReadSubscription', repository ?? ''));
      const all = await parts().subscriptions.store.list();
      const shown = all.filter((data) => repository === undefined || data.repository === repository);
      const results = await Promise.all(shown.map((data) => view(call, data)));
      return { pagination: paginationView(false, '', results.length), results };
    },

    async getSubscription(call) {
      return view(call, await open(call, call.params.subscription, 'fs:ReadSubscription'));
    },

    async updateSubscription(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      return view(call, await parts().subscriptions.update(id, call.body));
    },

    async deleteSubscription(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      await parts().subscriptions.remove(id);
    },

    async testSubscription(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      const { status, durationMs, error } = await parts().subscriptions.test(id, call.identity.user.username);
      return { status_code: status, duration_ms: durationMs, ...(error !== '' && { error }) };
    },

    async rotateSubscriptionSecret(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      return { secret: await parts().subscriptions.rotateSecret(id) };
    },

    async listDeliveries(call) {
      const { id } = await open(call, call.params.subscription, 'fs:ReadSubscription');
      const { subscriptions, log, installationId } = parts();
      const mayRead = await eventPermission(auth, call.identity, call.client);
      const results = [];
      if (call.query.state !== 'dead') {
        const stored = await subscriptions.store.delivery(id);
        for (const pending of stored?.data.pending ?? []) {
          if (pending.attempts === 0) continue;
          const segment = await log.segmentWith(pending.sequence);
          const event = segment?.events[pending.sequence - segment.first];
          const isShown = event !== undefined && mayRead(event);
          results.push({
            ...failingView(pending),
            ...(isShown && { event: cloudEvent(event, pending.sequence, installationId) }),
          });
        }
      }
      if (call.query.state !== 'failing') {
        for await (const { sequence, dead } of subscriptions.store.listDead(id)) {
          const { event } = dead;
          const isShown = event !== undefined && mayRead(event);
          results.push({
            ...deadView(sequence, dead),
            ...(isShown && { event: cloudEvent(event, sequence, installationId) }),
          });
        }
      }
      return { pagination: paginationView(false, '', results.length), results };
    },

    async redeliver(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      const { sequences = [], all } = call.body;
      if ((all === true) === sequences.length > 0) {
        throw new RequestError(400, 'sequences: give some, or all: true');
      }
      const wanted = all === true ? 'all' : sequences.map(sequenceOf);
      return { count: await parts().subscriptions.redeliver(id, wanted) };
    },

    async discardDelivery(call) {
      const { id } = await open(call, call.params.subscription, 'fs:WriteSubscription');
      await parts().subscriptions.discard(id, sequenceOf(call.query.sequence));
    },
  };
}

function sequenceOf(text: string): number {
  if (!/^\d{1,20}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw new RequestError(400, `sequence: '${text}' is no sequence number of an event`);
  }
  return Number(text);
}
