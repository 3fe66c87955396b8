import { segmentMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import type { EventLog } from './event-log.ts';
import { eventsPartition, segmentsPrefix, sequenceOfKey } from './keys.ts';

export interface TrimOptions {
  readonly retentionMs: number;
  readonly maxBytes: number;
  readonly now: number;
  readonly mayGoOn: () => Promise<boolean>;
}

/** Removes whole segments that are too old or too many, the oldest first. The last one stays: the keeper needs it. */
export async function trimEvents(kv: KvStore, log: EventLog, options: TrimOptions): Promise<void> {
  const { lastSegment, bytes } = await log.tail();
  for await (const page of kv.scan(eventsPartition, { prefix: segmentsPrefix, batch: 4 })) {
    for (const { key, value } of page) {
      const { offset, appendedAt } = segmentMessage.decode(value);
      const isOld = options.now - appendedAt > options.retentionMs;
      const isTooMuch = bytes - offset > options.maxBytes;
      if (sequenceOfKey(key) >= lastSegment || (!isOld && !isTooMuch)) return;
      if (!(await options.mayGoOn())) return;
      await kv.delete(eventsPartition, key);
    }
  }
}
