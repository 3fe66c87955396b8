import { eventMessage } from './event-messages.ts';
import { moveTime, newMoveId } from './move-id.ts';
import type { XidGenerator } from './xid.ts';

export const movesPrefix: Buffer = Buffer.from('moves/');
export const outboxPrefix: Buffer = Buffer.from('outbox/');

/** The id is turned round, so that the newest move comes first. */
export function moveKey(id: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(movesPrefix.length + id.length);
  movesPrefix.copy(key);
  turnRound(id, 0, key, movesPrefix.length);
  return key;
}

export function moveIdOfKey(key: Uint8Array): Buffer {
  const id = Buffer.allocUnsafe(key.length - movesPrefix.length);
  turnRound(key, movesPrefix.length, id, 0);
  return id;
}

function turnRound(from: Uint8Array, start: number, to: Uint8Array, at: number): void {
  for (let index = 0; start + index < from.length; index += 1) to[at + index] = ~(from[start + index] ?? 0);
}

/** What is not yet put in order with the events of other partitions. */
export function outboxKey(id: Uint8Array): Buffer {
  return Buffer.concat([outboxPrefix, id]);
}

/** Something that happened and is no move of a ref. Ids and names only, never a secret. */
export interface NewEvent {
  /** Such as `svc.branch.reset`. */
  readonly type: string;
  /** Such as `branch/main`. */
  readonly subject: string;
  readonly user: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** The put that tells of an event. Hand it to the very `change` that makes it true. */
export function outboxPut(
  event: NewEvent,
  nowMs: number,
  xids: XidGenerator,
): { readonly type: 'put'; readonly key: Buffer; readonly value: Buffer } {
  const id = newMoveId(nowMs, undefined, xids);
  const micros = moveTime(id);
  const value = eventMessage.encode({
    id,
    type: event.type,
    partition: '',
    subject: event.subject,
    time: timeOfMicros(micros),
    user: event.user,
    data: event.data === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(event.data)),
    move: undefined,
  });
  return { type: 'put', key: outboxKey(id), value };
}

export function timeOfMicros(micros: number): { seconds: number; nanos: number } {
  return { seconds: Math.floor(micros / 1e6), nanos: (micros % 1e6) * 1000 };
}
