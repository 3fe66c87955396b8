import { timestampFromMillis, type EventData, type SubscriptionData } from '@svc/encoding';
import { EventsError } from '../errors.ts';
import { EventFilter } from '../event-filter.ts';
import type { EventLog } from '../event-log.ts';
import { newMoveId, timeOfMicros, XidGenerator } from '@svc/encoding';
import { subscriptionFormats } from './messages.ts';
import { newSecret } from './signature.ts';
import type { Attempt, SecretBoxes, Webhooks } from './send-webhook.ts';
import { noSubscription, type SubscriptionStore } from './subscription-store.ts';

const maxHeaders = 16;
const formerMs = 86_400_000;
const refusedHeaders =
  /^(?:webhook-.*|content-.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

export interface NewSubscription {
  readonly url: string;
  readonly repository?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly subject?: string | undefined;
  readonly format?: string | undefined;
  readonly ordering?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** `latest`, `oldest` or a number. */
  readonly from?: string | undefined;
  readonly description?: string | undefined;
  readonly enabled?: boolean | undefined;
}

export type SubscriptionChange = Omit<NewSubscription, 'repository' | 'from' | 'url'> & {
  readonly url?: string | undefined;
};

export interface SubscriptionParts {
  readonly store: SubscriptionStore;
  readonly log: EventLog;
  readonly webhooks: Webhooks;
  readonly secrets: SecretBoxes;
  readonly clock?: (() => number) | undefined;
  /** Tells whoever delivers. */
  readonly onChanged: () => void;
}

export interface SubscriptionProgress {
  /** Everything up to here is done. */
  readonly cursor: number;
  readonly lag: number;
  readonly isFailing: boolean;
}

/** What users do with subscriptions. */
export class Subscriptions {
  readonly store: SubscriptionStore;
  readonly #parts: SubscriptionParts;
  readonly #clock: () => number;
  readonly #xids = new XidGenerator();

  constructor(parts: SubscriptionParts) {
    this.store = parts.store;
    this.#parts = parts;
    this.#clock = parts.clock ?? Date.now;
  }

  async create(wanted: NewSubscription, owner: string): Promise<{ data: SubscriptionData; secret: string }> {
    await this.#check(wanted);
    const { store, secrets, onChanged } = this.#parts;
    const id = store.newId();
    const secret = newSecret();
    const data: SubscriptionData = {
      id,
      url: wanted.url,
      repository: wanted.repository ?? '',
      types: wanted.types === undefined || wanted.types.length === 0 ? ['svc.*'] : wanted.types,
      subject: wanted.subject ?? '',
      format: wanted.format ?? 'cloudevents',
      ordering: wanted.ordering ?? 'ref',
      ...this.#headersOf(id, wanted.headers ?? {}),
      description: wanted.description ?? '',
      enabled: wanted.enabled ?? true,
      owner,
      disabledReason: '',
      createdAt: timestampFromMillis(this.#clock()),
      secret: secrets.seal(secret, `${id}/secret`),
      formerSecret: Buffer.alloc(0),
      formerUntil: undefined,
      from: await this.#from(wanted.from ?? 'latest'),
    };
    await store.create(data);
    onChanged();
    return { data, secret };
  }

  async get(id: string): Promise<SubscriptionData> {
    const found = await this.#parts.store.find(id);
    if (found === undefined) throw noSubscription();
    return found;
  }

  async update(id: string, change: SubscriptionChange): Promise<SubscriptionData> {
    await this.#check(change);
    const data = await this.#parts.store.update(id, (now) => ({
      ...now,
      url: change.url ?? now.url,
      types: change.types ?? now.types,
      subject: change.subject ?? now.subject,
      format: change.format ?? now.format,
      ordering: change.ordering ?? now.ordering,
      description: change.description ?? now.description,
      ...(change.headers !== undefined && this.#headersOf(id, change.headers)),
      enabled: change.enabled ?? now.enabled,
      disabledReason: change.enabled === true ? '' : now.disabledReason,
    }));
    if (change.enabled === true) await this.#forgive(id);
    this.#parts.onChanged();
    return data;
  }

  /** A subscription that is enabled again has its five days again. */
  async #forgive(id: string): Promise<void> {
    const stored = await this.#parts.store.delivery(id);
    if (stored?.data.failingSince === undefined) return;
    await this.#parts.store.saveDelivery(id, { ...stored.data, failingSince: undefined }, stored.predicate);
  }

  async remove(id: string): Promise<void> {
    await this.#parts.store.remove(id);
    this.#parts.onChanged();
  }

  async rotateSecret(id: string): Promise<string> {
    const secret = newSecret();
    await this.#parts.store.update(id, (now) => ({
      ...now,
      secret: this.#parts.secrets.seal(secret, `${id}/secret`),
      formerSecret: now.secret,
      formerUntil: timestampFromMillis(this.#clock() + formerMs),
    }));
    this.#parts.onChanged();
    return secret;
  }

  /** Sends an event that nobody else sees, at once. */
  async test(id: string, user: string): Promise<Attempt> {
    const subscription = await this.get(id);
    const now = this.#clock();
    const event: EventData = {
      id: newMoveId(now, undefined, this.#xids),
      type: 'svc.subscription.test',
      partition: 'events',
      subject: `subscription/${id}`,
      time: timeOfMicros(now * 1000),
      user,
      data: Buffer.alloc(0),
      move: undefined,
    };
    return this.#parts.webhooks.send(subscription, event, 0);
  }

  async progress(id: string): Promise<SubscriptionProgress> {
    const [stored, tail] = await Promise.all([this.#parts.store.delivery(id), this.#parts.log.tail()]);
    const position = stored?.data.position ?? 0;
    const pending = stored?.data.pending ?? [];
    const cursor = pending.reduce((least, { sequence }) => Math.min(least, sequence - 1), position);
    return {
      cursor,
      lag: Math.max(0, tail.next - 1 - position) + pending.length,
      isFailing: pending.some(({ attempts }) => attempts > 0),
    };
  }

  /** Asks for another attempt of these deliveries, or of all that failed. Answers how many. */
  async redeliver(id: string, sequences: readonly number[] | 'all'): Promise<number> {
    const { store, onChanged } = this.#parts;
    if (!(await this.get(id)).enabled) {
      throw new EventsError('conflict', 'the subscription is disabled: enable it first');
    }
    const failing = ((await store.delivery(id))?.data.pending ?? []).filter(({ attempts }) => attempts > 0);
    const known = new Set(failing.map(({ sequence }) => sequence));
    for await (const { sequence } of store.listDead(id)) known.add(sequence);
    const wanted = sequences === 'all' ? [...known] : sequences.filter((sequence) => known.has(sequence));
    for (const sequence of wanted) await store.request({ subscription: id, sequence, kind: 'redeliver' });
    onChanged();
    return wanted.length;
  }

  async discard(id: string, sequence: number): Promise<void> {
    await this.#parts.store.removeDead(id, sequence);
    await this.#parts.store.request({ subscription: id, sequence, kind: 'discard' });
    this.#parts.onChanged();
  }

  async #check(wanted: SubscriptionChange): Promise<void> {
    // Refuses unknown types.
    void new EventFilter({ types: wanted.types });
    const { format, ordering, headers = {} } = wanted;
    if (format !== undefined && !subscriptionFormats.some((known) => known === format)) {
      throw new EventsError('invalid', `format: '${format}' is none of ${subscriptionFormats.join(', ')}`);
    }
    if (ordering !== undefined && ordering !== 'ref' && ordering !== 'all') {
      throw new EventsError('invalid', `ordering: '${ordering}' is neither ref nor all`);
    }
    const names = Object.keys(headers);
    if (names.length > maxHeaders)
      throw new EventsError('invalid', `headers: at most ${maxHeaders} may be given`);
    for (const name of names) {
      const value = headers[name] ?? '';
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e]/.test(value)) {
        throw new EventsError('invalid', `headers: '${name}' is no header with a value in plain ASCII`);
      }
      if (refusedHeaders.test(name))
        throw new EventsError('invalid', `headers: '${name}' is set by the server`);
    }
    if (wanted.url !== undefined) await this.#parts.webhooks.check(wanted.url);
  }

  #headersOf(id: string, headers: Readonly<Record<string, string>>) {
    const names = Object.keys(headers);
    if (names.length === 0) return { headers: Buffer.alloc(0), headerNames: [] };
    return {
      headers: this.#parts.secrets.seal(JSON.stringify(headers), `${id}/headers`),
      headerNames: names,
    };
  }

  async #from(from: string): Promise<number> {
    const { log } = this.#parts;
    if (from === 'latest') return (await log.tail()).next - 1;
    if (from === 'oldest') return (await log.oldest()) - 1;
    const sequence = /^\d{1,15}$/.test(from) ? Number(from) : -1;
    const { next } = await log.tail();
    if (sequence < 0 || sequence >= next) {
      throw new EventsError('invalid', `from: expected latest, oldest or a number below ${next}`);
    }
    await log.checkCursor(sequence);
    return sequence;
  }
}
