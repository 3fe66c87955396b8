import { deadMessage, segmentMessage, timestampToMillis } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import type { EventLog } from './event-log.ts';
import { allDeadPrefix, eventsPartition, segmentsPrefix, sequenceOfKey } from './keys.ts';

export interface TrimOptions {
  readonly retentionMs: number;
  readonly maxBytes: number;
  readonly now: number;
  readonly mayGoOn: () => Promise<boolean>;
}

/** Removes whole segments that are too old or too many, the oldest first. Those that the keeper needs stay. */
export async function trimEvents(kv: KvStore, log: EventLog, options: TrimOptions): Promise<void> {
  const { lastSegment, bytes, uncleared } = await log.tail();
  const needed = uncleared === 0 ? lastSegment : uncleared;
  for await (const page of kv.scan(eventsPartition, { prefix: segmentsPrefix, batch: 4 })) {
    for (const { key, value } of page) {
      const { offset, appendedAt } = segmentMessage.decode(value);
      const isOld = options.now - appendedAt > options.retentionMs;
      const isTooMuch = bytes - offset > options.maxBytes;
      if (sequenceOfKey(key) >= needed || (!isOld && !isTooMuch)) return;
      if (!(await options.mayGoOn())) return;
      await kv.delete(eventsPartition, key);
    }
  }
}

/** How long an event that could not be delivered waits for somebody to look at it. */
const deadKeptMs = 30 * 24 * 3_600_000;

/** Removes dead letters that nobody has asked to be delivered again for too long. */
export async function trimDeadLetters(
  kv: KvStore,
  { now, mayGoOn }: Pick<TrimOptions, 'now' | 'mayGoOn'>,
): Promise<void> {
  for await (const page of kv.scan(eventsPartition, { prefix: allDeadPrefix })) {
    const old = page.filter(
      ({ value }) => timestampToMillis(deadMessage.decode(value).diedAt) < now - deadKeptMs,
    );
    if (old.length === 0) continue;
    if (!(await mayGoOn())) return;
    await kv.deleteMany(
      eventsPartition,
      old.map(({ key }) => key),
    );
  }
}
