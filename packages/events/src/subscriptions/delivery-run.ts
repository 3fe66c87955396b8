import {
  timestampFromMillis,
  timestampToMillis,
  type EventData,
  type PendingDelivery,
  type SubscriptionData,
} from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import { EventFilter } from '../event-filter.ts';
import type { EventLog } from '../event-log.ts';
import type { MayRead } from '../read-events.ts';
import type { EventsLogger } from '../source.ts';
import { laneOf, waitAfter } from './delivery-lane.ts';
import type { Attempt } from './send-webhook.ts';
import type { DeliveryRequest, SubscriptionStore } from './subscription-store.ts';

/** Events on their way at once; reading goes on when there is room. */
const maxPending = 1000;
const saveEveryMs = 1000;
const dayMs = 86_400_000;
const givesUpAfterMs = 5 * dayMs;

export interface DeliveryParts {
  readonly store: SubscriptionStore;
  readonly log: EventLog;
  readonly send: (subscription: SubscriptionData, event: EventData, sequence: number) => Promise<Attempt>;
  /** What the owner may have sent; undefined when there is no such user any more. */
  readonly permissionOf: (subscription: SubscriptionData) => Promise<MayRead | undefined>;
  readonly clock: () => number;
  readonly random: () => number;
  readonly logger: EventsLogger;
  readonly onAttempt?: ((outcome: 'delivered' | 'failed' | 'dead') => void) | undefined;
}

interface Pending {
  readonly event: EventData;
  readonly lane: number;
  state: PendingDelivery;
}

/**
 * Delivers the events of one subscription. What is stored says up to where events were looked at and which of those are
 * still to be delivered, so that a failing one holds up nothing but its lane. A crash repeats what was not stored yet.
 */
export class DeliveryRun {
  readonly #parts: DeliveryParts;
  readonly #filter: EventFilter;
  #subscription: SubscriptionData;
  readonly #pending = new Map<number, Pending>();
  readonly #busy = new Map<number, Promise<void>>();
  #position: number;
  #failingSince: number | undefined;
  #predicate: KvPredicate;
  #isDirty = false;
  #savedAt = 0;
  #isOver = false;
  #tail = 0;
  /** Called when a lane is free again. */
  readonly #wake: () => void;

  private constructor(
    parts: DeliveryParts,
    subscription: SubscriptionData,
    start: { position: number; failingSince: number | undefined; predicate: KvPredicate },
    wake: () => void,
  ) {
    this.#parts = parts;
    this.#subscription = subscription;
    const { repository, types, subject } = subscription;
    this.#filter = new EventFilter({
      repository: repository === '' ? undefined : repository,
      types,
      subject,
    });
    this.#position = start.position;
    this.#failingSince = start.failingSince;
    this.#predicate = start.predicate;
    this.#wake = wake;
  }

  /** Goes on where the last one stopped. Undefined when there is nothing to go on with. */
  static async begin(
    parts: DeliveryParts,
    subscription: SubscriptionData,
    wake: () => void,
  ): Promise<DeliveryRun | undefined> {
    const stored = await parts.store.delivery(subscription.id);
    if (stored === undefined) return undefined;
    const { position, pending, failingSince } = stored.data;
    const run = new DeliveryRun(
      parts,
      subscription,
      {
        position,
        failingSince: failingSince === undefined ? undefined : timestampToMillis(failingSince),
        predicate: stored.predicate,
      },
      wake,
    );
    for (const state of pending) {
      const segment = await parts.log.segmentWith(state.sequence);
      const event = segment?.events[state.sequence - segment.first];
      if (event === undefined) {
        await run.#disable(`event ${state.sequence} was not delivered before it was removed from the log`);
        return undefined;
      }
      run.#pending.set(state.sequence, { event, state, lane: laneOf(event, subscription.ordering) });
    }
    return run;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The same subscription, changed in what does not concern which events it gets. */
  use(subscription: SubscriptionData): void {
    this.#subscription = subscription;
  }

  /** Begins what can be begun. Answers when to come back, in milliseconds since 1970. */
  async step(tail: number): Promise<number | undefined> {
    this.#tail = tail;
    const permission = await this.#parts.permissionOf(this.#subscription);
    if (permission === undefined) {
      await this.#disable(`its owner ${this.#subscription.owner} was deleted`);
      return undefined;
    }
    await this.#read(permission);
    const now = this.#parts.clock();
    let nextAt: number | undefined;
    const held = new Set<number>(this.#busy.keys());
    for (const [sequence, pending] of [...this.#pending].sort(([left], [right]) => left - right)) {
      if (held.has(pending.lane)) continue;
      held.add(pending.lane);
      const { nextAttempt } = pending.state;
      const dueAt = nextAttempt === undefined ? now : timestampToMillis(nextAttempt);
      if (dueAt > now) nextAt = Math.min(nextAt ?? dueAt, dueAt);
      else if (!this.#isOver) this.#start(sequence, pending, permission);
    }
    await this.#save(false);
    return this.#isDirty ? Math.min(nextAt ?? Infinity, this.#savedAt + saveEveryMs) : nextAt;
  }

  async #read(mayRead: MayRead): Promise<void> {
    const { log } = this.#parts;
    while (!this.#isOver && this.#position < this.#tail - 1 && this.#pending.size < maxPending) {
      const segment = await log.segmentWith(this.#position + 1);
      if (segment === undefined) {
        await this.#disable(
          `events after ${this.#position} were removed from the log before they were delivered`,
        );
        return;
      }
      while (this.#position < segment.next - 1 && this.#pending.size < maxPending) {
        const sequence = this.#position + 1;
        const event = segment.events[sequence - segment.first];
        if (event !== undefined && this.#filter.matches(event) && mayRead(event)) {
          const lane = laneOf(event, this.#subscription.ordering);
          this.#pending.set(sequence, { event, lane, state: freshState(sequence) });
        }
        this.#position = sequence;
        this.#isDirty = true;
      }
    }
  }

  #start(sequence: number, pending: Pending, mayRead: MayRead): void {
    const attempt = this.#attempt(sequence, pending, mayRead)
      .catch((error: unknown) => {
        const { logger } = this.#parts;
        logger.error({ error, subscription: this.#subscription.id }, 'an event could not be sent');
        this.#isOver = true;
      })
      .finally(() => {
        this.#busy.delete(pending.lane);
        this.#wake();
      });
    this.#busy.set(pending.lane, attempt);
  }

  async #attempt(sequence: number, pending: Pending, mayRead: MayRead): Promise<void> {
    if (!mayRead(pending.event)) {
      this.#finish(sequence);
      return;
    }
    const { clock, onAttempt, random } = this.#parts;
    const attempt = await this.#parts.send(this.#subscription, pending.event, sequence);
    if (attempt.isDone) {
      this.#failingSince = undefined;
      this.#finish(sequence);
      onAttempt?.('delivered');
      return;
    }
    this.#isDirty = true;
    const attempts = pending.state.attempts + 1;
    const wait = waitAfter(attempts, attempt.retryAfterMs, random());
    const last = { lastStatus: attempt.status, lastError: attempt.error, lastResponse: attempt.response };
    onAttempt?.(wait === undefined ? 'dead' : 'failed');
    pending.state = {
      sequence,
      attempts,
      nextAttempt: timestampFromMillis(clock() + (wait ?? 0)),
      ...last,
    };
    this.#failingSince ??= clock();
    if (attempt.status === 410) await this.#disable('the receiver answered 410: it wants no more events');
    else if (clock() - this.#failingSince > givesUpAfterMs)
      await this.#disable('nothing was delivered for five days');
    else if (wait === undefined) await this.#bury(sequence, pending);
  }

  async #bury(sequence: number, { event, state }: Pending): Promise<void> {
    const { attempts, lastStatus, lastError, lastResponse } = state;
    const diedAt = timestampFromMillis(this.#parts.clock());
    const dead = { event, attempts, diedAt, lastStatus, lastError, lastResponse };
    await this.#parts.store.addDead(this.#subscription.id, sequence, dead);
    this.#finish(sequence);
  }

  #finish(sequence: number): void {
    this.#pending.delete(sequence);
    this.#isDirty = true;
  }

  /** Something somebody asked for. Dead events get one attempt, failing ones theirs at once. */
  async handle(request: DeliveryRequest): Promise<void> {
    const { sequence } = request;
    const pending = this.#pending.get(sequence);
    if (pending !== undefined) {
      if (request.kind === 'discard') this.#finish(sequence);
      else pending.state = { ...pending.state, nextAttempt: undefined };
      this.#isDirty = true;
      return;
    }
    const { store, clock } = this.#parts;
    const dead = await store.findDead(this.#subscription.id, sequence);
    if (dead?.event === undefined) return;
    if (request.kind === 'discard') {
      await store.removeDead(this.#subscription.id, sequence);
      return;
    }
    const attempt = await this.#parts.send(this.#subscription, dead.event, sequence);
    if (attempt.isDone) await store.removeDead(this.#subscription.id, sequence);
    else {
      await store.addDead(this.#subscription.id, sequence, {
        event: dead.event,
        attempts: dead.attempts + 1,
        diedAt: timestampFromMillis(clock()),
        lastStatus: attempt.status,
        lastError: attempt.error,
        lastResponse: attempt.response,
      });
    }
  }

  async #disable(reason: string): Promise<void> {
    this.#isOver = true;
    await this.#parts.store.disable(this.#subscription.id, reason, this.#parts.clock());
  }

  async #save(atOnce: boolean): Promise<void> {
    const { store, clock } = this.#parts;
    if (!this.#isDirty || (!atOnce && clock() - this.#savedAt < saveEveryMs)) return;
    this.#isDirty = false;
    this.#savedAt = clock();
    const data = {
      position: this.#position,
      pending: [...this.#pending.values()].map(({ state }) => state),
      failingSince: this.#failingSince === undefined ? undefined : timestampFromMillis(this.#failingSince),
    };
    const { id } = this.#subscription;
    const isSaved = await store.saveDelivery(id, data, this.#predicate);
    const now = isSaved ? await store.delivery(id) : undefined;
    // Another server delivers now.
    if (now === undefined) this.#isOver = true;
    else this.#predicate = now.predicate;
  }

  /** Waits for the requests under way and stores how far it came. */
  async end(): Promise<void> {
    await Promise.all(this.#busy.values());
    if (!this.#isOver) await this.#save(true);
    this.#isOver = true;
  }
}

function freshState(sequence: number): PendingDelivery {
  return {
    sequence,
    attempts: 0,
    nextAttempt: undefined,
    lastStatus: 0,
    lastError: '',
    lastResponse: Buffer.alloc(0),
  };
}
