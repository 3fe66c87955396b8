import { eventsTailMessage, type EventsTail } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import { EventsError } from './errors.ts';
import { eventsPartition, segmentKey, segmentsPrefix, sequenceOfKey, tailKey } from './keys.ts';
import { firstTail } from './keeper-term.ts';
import { decodeSegment, maxSegmentEvents, type Segment } from './segment.ts';

/** Kept in memory: whoever reads along reads the last ones. */
const keptSegments = 64;
const keptEvents = 32_000;
/** A quiet log has many small segments, which are read together; one with more events is read alone. */
const smallSegment = 16;
const readTogether = 32;

/** Reads the log. */
export class EventLog {
  readonly #kv: KvStore;
  readonly #segments = new LRUCache<number, Segment>({
    max: keptSegments,
    maxSize: keptEvents,
    sizeCalculation: ({ events }) => events.length + 1,
  });
  readonly #loading = new Map<number, Promise<Segment | undefined>>();
  /** Where the small segment ends that was read last. */
  #smallUntil = 0;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  async tail(): Promise<EventsTail> {
    const found = await this.#kv.get(eventsPartition, tailKey);
    return found === undefined ? firstTail : eventsTailMessage.decode(found.value);
  }

  /** The number of the oldest event that is still there, or of the next one when there is none. */
  async oldest(): Promise<number> {
    for await (const page of this.#kv.scan(eventsPartition, { prefix: segmentsPrefix, batch: 1 })) {
      const [first] = page;
      if (first !== undefined) return sequenceOfKey(first.key);
    }
    return (await this.tail()).next;
  }

  /** Throws unless reading can go on after this number. Answers with the number of the event that comes next. */
  async checkCursor(after: number): Promise<number> {
    const { next } = await this.tail();
    if (after >= next)
      throw new EventsError('gone', 'cursor is ahead of this log', { oldest: await this.oldest() });
    const oldest = await this.oldest();
    if (after + 1 < oldest) {
      throw new EventsError('gone', `events up to ${oldest - 1} are no longer kept`, { oldest });
    }
    return next;
  }

  /** The segment with this event; undefined when it has not happened or is no longer kept. */
  async segmentWith(sequence: number): Promise<Segment | undefined> {
    const [exact] = [this.#segments.get(sequence) ?? (await this.#load(sequence))];
    if (exact !== undefined) return exact;
    for (const segment of this.#segments.values()) {
      if (segment.first <= sequence && sequence < segment.next) return segment;
    }
    // Segments that begin so few numbers before hold no more events than one may: this reads about one.
    const start = segmentKey(Math.max(1, sequence - maxSegmentEvents + 1));
    for await (const page of this.#kv.scan(eventsPartition, { prefix: segmentsPrefix, start, batch: 8 })) {
      for (const { key, value } of page) {
        if (sequenceOfKey(key) > sequence) return undefined;
        const segment = decodeSegment(value);
        if (sequence >= segment.next) continue;
        this.#segments.set(segment.first, segment);
        return segment;
      }
    }
    return undefined;
  }

  /** One read for all who wait for the same segment. */
  async #load(first: number): Promise<Segment | undefined> {
    const reading = this.#loading.get(first) ?? this.#read(first).finally(() => this.#loading.delete(first));
    this.#loading.set(first, reading);
    return reading;
  }

  async #read(first: number): Promise<Segment | undefined> {
    const start = segmentKey(first);
    const batch = first === this.#smallUntil ? readTogether : 1;
    for await (const page of this.#kv.scan(eventsPartition, { prefix: segmentsPrefix, start, batch })) {
      let found: Segment | undefined;
      for (const { key, value } of page) {
        const isNext = sequenceOfKey(key) === first;
        // A damaged segment is for whoever comes to it.
        const segment = isNext ? decodeSegment(value) : ifSound(value);
        if (segment === undefined) break;
        if (isNext) found = segment;
        this.#segments.set(segment.first, segment);
        this.#smallUntil = segment.events.length <= smallSegment ? segment.next : 0;
      }
      return found;
    }
    return undefined;
  }
}

function ifSound(value: Buffer): Segment | undefined {
  try {
    return decodeSegment(value);
  } catch {
    return undefined;
  }
}
