import {
  eventMessage,
  moveKey,
  moveMessage,
  moveTime,
  outboxKey,
  outboxPrefix,
  type EventData,
} from '@svc/encoding';
import type { KvStore, KvWrite } from '@svc/kv';
import { eventOfMove } from './event.ts';
import type { EventsLogger } from './source.ts';

/** Keys that one read of a store answers. */
const moveBatch = 100;
/** A store may give less than it was asked for, but never less than this when there is more. */
export const leastPage = 100;
/** An entry without its record for so long will never have one. */
const lostAfterMs = 300_000;

/** What waits in the outbox of a partition. */
export interface OutboxPage {
  readonly events: readonly EventData[];
  /** Entries that tell of nothing. */
  readonly idle: readonly Buffer[];
  /** There may be more. */
  readonly isFull: boolean;
}

/**
 * The oldest entries of an outbox that are not taken yet, from one page: a page is what a store shows of one moment, so whoever sees a later
 * move of a ref in it sees the earlier ones as well. Over several pages that would not hold.
 */
export async function readOutbox(
  kv: KvStore,
  partition: Buffer,
  limit: number,
  context: { readonly clock: () => number; readonly logger: EventsLogger },
  taken: ReadonlySet<string>,
): Promise<OutboxPage> {
  const batch = limit + taken.size;
  for await (const page of kv.scan(partition, { prefix: outboxPrefix, batch })) {
    const entries = page
      .map(({ key, value }) => ({ id: key.subarray(outboxPrefix.length), value }))
      .filter(({ id }) => taken.size === 0 || !taken.has(id.toString('latin1')))
      .slice(0, limit);
    const records = await readMoves(kv, partition, entries);
    const events: EventData[] = [];
    const idle: Buffer[] = [];
    for (const { id, value } of entries) {
      const record = value.length > 0 ? undefined : records.get(id.toString('latin1'));
      if (value.length === 0 && record === undefined) {
        // Some stores show the writes of one change one after another.
        if (context.clock() * 1000 - moveTime(id) < lostAfterMs * 1000) break;
        context.logger.error({ partition: partition.toString() }, 'an event has lost the record of its move');
        idle.push(outboxKey(id));
        continue;
      }
      const event = eventOf(Buffer.from(id), partition.toString(), value, record);
      if (event === undefined) idle.push(outboxKey(id));
      else events.push(event);
    }
    return { events, idle, isFull: page.length >= Math.min(batch, leastPage) };
  }
  return { events: [], idle: [], isFull: false };
}

function eventOf(
  id: Buffer,
  partition: string,
  value: Buffer,
  record: Buffer | undefined,
): EventData | undefined {
  if (record !== undefined) return eventOfMove(id, partition, moveMessage.decode(record));
  return { ...eventMessage.decode(value), id, partition };
}

async function readMoves(
  kv: KvStore,
  partition: Buffer,
  entries: readonly { readonly id: Buffer; readonly value: Buffer }[],
): Promise<Map<string, Buffer>> {
  const ids = entries.filter(({ value }) => value.length === 0).map(({ id }) => id);
  const found = new Map<string, Buffer>();
  if (kv.valueAtOnce !== undefined) {
    for (const id of ids) {
      const value = kv.valueAtOnce(partition, moveKey(id));
      if (value !== undefined) found.set(id.toString('latin1'), value);
    }
    return found;
  }
  for (let at = 0; at < ids.length; at += moveBatch) {
    const batch = ids.slice(at, at + moveBatch);
    const values = await kv.getMany(partition, batch.map(moveKey));
    for (const [index, id] of batch.entries()) {
      const value = values[index]?.value;
      if (value !== undefined) found.set(id.toString('latin1'), value);
    }
  }
  return found;
}

/** Whether a change tells of something new. */
export function fillsOutbox(writes: readonly KvWrite[]): boolean {
  return writes.some(({ type, key }) => type !== 'delete' && isOutboxKey(key));
}

function isOutboxKey(key: Uint8Array): boolean {
  if (key.length <= outboxPrefix.length) return false;
  for (let index = 0; index < outboxPrefix.length; index += 1) {
    if (key[index] !== outboxPrefix[index]) return false;
  }
  return true;
}
