import { eventsTailMessage, moveTime, outboxKey, type EventData, type EventsTail } from '@svc/encoding';
import type { KvPredicate, KvStore } from '@svc/kv';
import { eventsPartition, segmentKey, segmentsPrefix, tailKey } from './keys.ts';
import { leastPage, readOutbox } from './outbox.ts';
import { decodeSegment, encodeSegment, maxSegmentEvents } from './segment.ts';
import type { EventsLogger, EventSource } from './source.ts';

/** Of one partition at a time: others wait for it. */
const maxOfPartition = 1000;
/** Entries that may stay in outboxes although their events are in the log: a full page always shows new ones as well. */
const mostUncleared = leastPage - 10;

export interface KeeperTermOptions {
  readonly kv: KvStore;
  readonly source: EventSource;
  readonly clock: () => number;
  readonly logger: EventsLogger;
  /** How long entries of outboxes may stay once their events are in the log: clearing many at once costs one flush. */
  readonly clearAfterMs?: number | undefined;
  /** Told after each segment: the number of the event that comes next. */
  readonly onAppended?: ((next: number) => void) | undefined;
}

/** What one round did. */
export interface KeptRound {
  /** How many events waited. */
  readonly found: number;
  readonly appended: number;
  /** How long the oldest of them had waited. */
  readonly lagMs: number;
  /** The number of the event that comes next. */
  readonly next: number;
  /** Partitions whose outboxes may hold more. */
  readonly unfinished: readonly string[];
}

/**
 * Takes events out of the outboxes and puts them in order, as long as nobody else does: each segment is appended only
 * while the tail is as this term left it.
 *
 * An entry of an outbox goes only once its event is in a segment, and a segment is appended together with the number of
 * the first one whose entries may still be there. So whatever a crash leaves behind is in the segments from that one on,
 * and the next term removes it first.
 */
export class KeeperTerm {
  readonly #options: KeeperTermOptions;
  #tail: EventsTail;
  /** Undefined: there is no tail yet. */
  #predicate: KvPredicate | undefined;
  /** In the log, and still in their outboxes. */
  #uncleared: EventData[] = [];
  readonly #unclearedIds = new Set<string>();
  #unclearedSince = 0;

  private constructor(options: KeeperTermOptions, tail: EventsTail, predicate: KvPredicate | undefined) {
    this.#options = options;
    this.#tail = tail;
    this.#predicate = predicate;
  }

  static async begin(options: KeeperTermOptions): Promise<KeeperTerm> {
    const { kv } = options;
    const found = await kv.get(eventsPartition, tailKey);
    const tail = found === undefined ? firstTail : eventsTailMessage.decode(found.value);
    const term = new KeeperTerm(options, tail, found?.predicate);
    const start = segmentKey(tail.uncleared === 0 ? tail.lastSegment : tail.uncleared);
    for await (const page of kv.scan(eventsPartition, { prefix: segmentsPrefix, start, batch: 1 })) {
      for (const { value } of page) await term.#finish(decodeSegment(value).events);
    }
    return term;
  }

  get next(): number {
    return this.#tail.next;
  }

  /** One segment from the outboxes of these partitions. Undefined: somebody else keeps the log now, the term is over. */
  async round(partitions: readonly string[]): Promise<KeptRound | undefined> {
    const events: EventData[] = [];
    const unfinished: string[] = [];
    for (const [index, name] of partitions.entries()) {
      const room = Math.min(maxSegmentEvents - events.length, maxOfPartition);
      if (room === 0) {
        unfinished.push(...partitions.slice(index));
        break;
      }
      const partition = Buffer.from(name);
      const page = await readOutbox(this.#options.kv, partition, room, this.#options, this.#unclearedIds);
      events.push(...page.events);
      if (page.isFull) unfinished.push(name);
      if (page.idle.length > 0) await this.#options.kv.deleteMany(partition, page.idle);
    }
    if (events.length === 0) {
      await this.#clearIfDue();
      return { found: 0, appended: 0, lagMs: 0, next: this.next, unfinished };
    }
    const appended = await this.#append(events);
    if (appended === undefined) return undefined;
    // Readers need not wait for the outboxes to be cleared.
    this.#options.onAppended?.(this.next);
    this.#keepUncleared(appended);
    await this.#clearIfDue();
    if (appended.length < events.length) {
      for (const { partition } of events.slice(appended.length)) {
        if (!unfinished.includes(partition)) unfinished.push(partition);
      }
    }
    const oldest = appended.reduce((time, { id }) => Math.min(time, moveTime(id)), Number.POSITIVE_INFINITY);
    const lagMs = Math.max(0, this.#options.clock() - oldest / 1000);
    return { found: events.length, appended: appended.length, lagMs, next: this.next, unfinished };
  }

  /** Those of the events that are in the log now. */
  async #append(events: readonly EventData[]): Promise<readonly EventData[] | undefined> {
    const { kv, clock } = this.#options;
    const { next, bytes } = this.#tail;
    const { value, count } = encodeSegment(events, { first: next, offset: bytes, appendedAt: clock() });
    const uncleared = this.#uncleared.length === 0 ? next : this.#tail.uncleared;
    const tail: EventsTail = {
      next: next + count,
      lastSegment: next,
      bytes: bytes + value.length,
      uncleared,
    };
    const encoded = eventsTailMessage.encode(tail);
    const isAppended = await kv.change(
      eventsPartition,
      { key: tailKey, condition: this.#predicate ?? 'absent' },
      [
        { type: 'put', key: segmentKey(next), value },
        { type: 'put', key: tailKey, value: encoded },
      ],
    );
    if (!isAppended) return undefined;
    this.#predicate = kv.predicateOf?.(encoded) ?? (await this.#readPredicate(encoded));
    if (this.#predicate === undefined) return undefined;
    this.#tail = tail;
    return events.slice(0, count);
  }

  /** Whoever was quicker than this read finishes our segment before it appends its own. */
  async #readPredicate(tail: Buffer): Promise<KvPredicate | undefined> {
    const found = await this.#options.kv.get(eventsPartition, tailKey);
    return found?.value.equals(tail) === true ? found.predicate : undefined;
  }

  #keepUncleared(events: readonly EventData[]): void {
    if (this.#uncleared.length === 0) this.#unclearedSince = this.#options.clock();
    this.#uncleared.push(...events);
    for (const { id } of events) this.#unclearedIds.add(id.toString('latin1'));
  }

  async #clearIfDue(): Promise<void> {
    const isOld = this.#options.clock() - this.#unclearedSince >= (this.#options.clearAfterMs ?? 0);
    if (isOld || this.#uncleared.length >= mostUncleared) await this.clear();
  }

  /** Takes out of the outboxes what is in the log. */
  async clear(): Promise<void> {
    const events = this.#uncleared;
    if (events.length === 0) return;
    await this.#finish(events);
    this.#uncleared = [];
    this.#unclearedIds.clear();
  }

  /** Safe to repeat: the events are in the log. */
  async #finish(events: readonly EventData[]): Promise<void> {
    const tokens = events.flatMap(({ move }) => move?.retiredTokens ?? []);
    if (tokens.length > 0) await this.#options.source.retireTokens(tokens);
    const keys = new Map<string, Buffer[]>();
    for (const { partition, id } of events) {
      const ofPartition = keys.get(partition) ?? [];
      keys.set(partition, ofPartition);
      ofPartition.push(outboxKey(id));
    }
    for (const [partition, ofPartition] of keys) {
      await this.#options.kv.deleteMany(Buffer.from(partition), ofPartition);
    }
  }
}

/** Numbers begin with one: whoever has read nothing is at zero. */
export const firstTail: EventsTail = { next: 1, lastSegment: 0, bytes: 0, uncleared: 0 };
