import {
  deadMessage,
  deliveryMessage,
  outboxPut,
  subscriptionMessage,
  XidGenerator,
  type DeadData,
  type DeliveryData,
  type SubscriptionData,
} from '@svc/encoding';
import type { KvPredicate, KvStore } from '@svc/kv';
import { EventsError } from '../errors.ts';
import {
  deadKey,
  deadPrefix,
  deliveryKey,
  eventsPartition,
  requestKey,
  requestsPrefix,
  sequenceOfKey,
  subscriptionKey,
  subscriptionsPrefix,
} from '../keys.ts';

const mostOfRepository = 100;
const mostOfServer = 1000;
const maxTries = 10;

export interface StoredDelivery {
  readonly data: DeliveryData;
  readonly predicate: KvPredicate;
}

export interface DeliveryRequest {
  readonly subscription: string;
  readonly sequence: number;
  readonly kind: 'redeliver' | 'discard';
}

/** The records of subscriptions, and how far each is. */
export class SubscriptionStore {
  readonly #kv: KvStore;
  readonly #xids = new XidGenerator();

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  newId(): string {
    return this.#xids.next();
  }

  /** How far it is begins where the subscription does. */
  async create(data: SubscriptionData): Promise<void> {
    const all = await this.list();
    const ofRepository = all.filter(({ repository }) => repository === data.repository).length;
    if (all.length >= mostOfServer || (data.repository !== '' && ofRepository >= mostOfRepository)) {
      throw new EventsError(
        'conflict',
        `there are too many subscriptions: ${mostOfRepository} of a repository, ${mostOfServer} in all`,
      );
    }
    const key = subscriptionKey(data.id);
    const delivery = { position: data.from, pending: [], failingSince: undefined };
    await this.#kv.change(eventsPartition, { key, condition: 'absent' }, [
      { type: 'put', key, value: subscriptionMessage.encode(data) },
      { type: 'put', key: deliveryKey(data.id), value: deliveryMessage.encode(delivery) },
    ]);
  }

  async find(id: string): Promise<SubscriptionData | undefined> {
    const found = await this.#kv.get(eventsPartition, subscriptionKey(id));
    return found === undefined ? undefined : subscriptionMessage.decode(found.value);
  }

  async list(): Promise<SubscriptionData[]> {
    const subscriptions: SubscriptionData[] = [];
    for await (const page of this.#kv.scan(eventsPartition, { prefix: subscriptionsPrefix })) {
      for (const { value } of page) subscriptions.push(subscriptionMessage.decode(value));
    }
    return subscriptions;
  }

  async update(id: string, change: (data: SubscriptionData) => SubscriptionData): Promise<SubscriptionData> {
    const key = subscriptionKey(id);
    for (let tries = 0; tries < maxTries; tries += 1) {
      const found = await this.#kv.get(eventsPartition, key);
      if (found === undefined) throw noSubscription();
      const changed = change(subscriptionMessage.decode(found.value));
      const value = subscriptionMessage.encode(changed);
      if (await this.#kv.setIf(eventsPartition, key, value, found.predicate)) return changed;
    }
    throw new EventsError('busy', 'the subscription is being changed by others: try again');
  }

  /** Stops a subscription, and tells of it. */
  async disable(id: string, reason: string, nowMs: number): Promise<void> {
    const key = subscriptionKey(id);
    const found = await this.#kv.get(eventsPartition, key);
    const data = found === undefined ? undefined : subscriptionMessage.decode(found.value);
    if (found === undefined || data === undefined || !data.enabled) return;
    const { repository, owner: user } = data;
    const event = outboxPut(
      {
        type: 'svc.subscription.disabled',
        subject: `subscription/${id}`,
        user,
        data: { reason, ...(repository !== '' && { repository }) },
      },
      nowMs,
      this.#xids,
    );
    const value = subscriptionMessage.encode({ ...data, enabled: false, disabledReason: reason });
    await this.#kv.change(eventsPartition, { key, condition: found.predicate }, [
      { type: 'put', key, value },
      event,
    ]);
  }

  async remove(id: string): Promise<void> {
    await this.#kv.delete(eventsPartition, subscriptionKey(id));
    await this.#kv.delete(eventsPartition, deliveryKey(id));
    for (const prefix of [deadPrefix(id), Buffer.concat([requestsPrefix, Buffer.from(`${id}/`)])]) {
      for await (const page of this.#kv.scan(eventsPartition, { prefix })) {
        await this.#kv.deleteMany(
          eventsPartition,
          page.map(({ key }) => key),
        );
      }
    }
  }

  async delivery(id: string): Promise<StoredDelivery | undefined> {
    const found = await this.#kv.get(eventsPartition, deliveryKey(id));
    return found === undefined
      ? undefined
      : { data: deliveryMessage.decode(found.value), predicate: found.predicate };
  }

  /** False when somebody else has written since. */
  saveDelivery(id: string, data: DeliveryData, predicate: KvPredicate): Promise<boolean> {
    return this.#kv.setIf(eventsPartition, deliveryKey(id), deliveryMessage.encode(data), predicate);
  }

  async addDead(id: string, sequence: number, dead: DeadData): Promise<void> {
    await this.#kv.set(eventsPartition, deadKey(id, sequence), deadMessage.encode(dead));
  }

  async findDead(id: string, sequence: number): Promise<DeadData | undefined> {
    const found = await this.#kv.get(eventsPartition, deadKey(id, sequence));
    return found === undefined ? undefined : deadMessage.decode(found.value);
  }

  async removeDead(id: string, sequence: number): Promise<void> {
    await this.#kv.delete(eventsPartition, deadKey(id, sequence));
  }

  async *listDead(id: string): AsyncGenerator<{ sequence: number; dead: DeadData }> {
    for await (const page of this.#kv.scan(eventsPartition, { prefix: deadPrefix(id) })) {
      for (const { key, value } of page)
        yield { sequence: sequenceOfKey(key), dead: deadMessage.decode(value) };
    }
  }

  /** Asks whoever delivers to do something about a delivery. */
  async request({ subscription, sequence, kind }: DeliveryRequest): Promise<void> {
    await this.#kv.set(eventsPartition, requestKey(subscription, sequence), Buffer.from(kind));
  }

  async requests(): Promise<DeliveryRequest[]> {
    const requests: DeliveryRequest[] = [];
    for await (const page of this.#kv.scan(eventsPartition, { prefix: requestsPrefix })) {
      for (const { key, value } of page) {
        const subscription = key.subarray(requestsPrefix.length, key.length - 9).toString();
        const kind = value.toString() === 'discard' ? 'discard' : 'redeliver';
        requests.push({ subscription, sequence: sequenceOfKey(key), kind });
      }
    }
    return requests;
  }

  async removeRequest({ subscription, sequence }: DeliveryRequest): Promise<void> {
    await this.#kv.delete(eventsPartition, requestKey(subscription, sequence));
  }
}

export function noSubscription(): EventsError {
  return new EventsError('not_found', 'subscription not found');
}
