import type { MessageOf } from './fields.ts';
import {
  bytes,
  embedded,
  flag,
  integer,
  message,
  optionalTimestamp,
  repeated,
  text,
  texts,
  timestamp,
} from './fields.ts';
import { moveMessage } from './move-messages.ts';

/** Something that happened, as it waits in an outbox and stands in a segment. */
export const eventMessage = message({
  id: bytes(1),
  type: text(2),
  /** Whose outbox it was in. */
  partition: text(3),
  subject: text(4),
  time: timestamp(5),
  user: text(6),
  /** JSON; of a move it is made from the record. */
  data: bytes(7),
  move: embedded(8, moveMessage),
});
export type EventData = MessageOf<typeof eventMessage>;

/** Events in a row, from the sequence number `first` on. */
export const segmentMessage = message({
  first: integer(1),
  /** Whose events are inside; `""` stands for those of no repository. */
  repositories: texts(2),
  /** Zstandard over events, each after its length. */
  events: bytes(3),
  /** Bytes of all segments before it, also of those that are gone. */
  offset: integer(4),
  /** Milliseconds since 1970. */
  appendedAt: integer(5),
});
export type SegmentData = MessageOf<typeof segmentMessage>;

export const eventsTailMessage = message({
  /** The sequence number of the event that comes next. */
  next: integer(1),
  lastSegment: integer(2),
  /** Bytes of all segments, also of those that are gone. */
  bytes: integer(3),
  /** The first segment whose events may still be in outboxes; 0: the last one. */
  uncleared: integer(4),
});
export type EventsTail = MessageOf<typeof eventsTailMessage>;

/** What a server that does not keep the log tells the one that does. */
export const eventHintsMessage = message({
  partitions: texts(1),
  /** There were too many to name. */
  all: flag(2),
  /** Milliseconds since 1970. */
  beat: integer(3),
});
export type EventHints = MessageOf<typeof eventHintsMessage>;

export const subscriptionMessage = message({
  id: text(1),
  url: text(2),
  repository: text(3),
  types: texts(4),
  subject: text(5),
  format: text(6),
  ordering: text(7),
  /** JSON of names and values, sealed. */
  headers: bytes(8),
  description: text(9),
  enabled: flag(10),
  owner: text(11),
  disabledReason: text(12),
  createdAt: timestamp(13),
  secret: bytes(14),
  /** Signs as well until `formerUntil`. */
  formerSecret: bytes(15),
  formerUntil: optionalTimestamp(16),
  /** Names of the headers, which are no secret. */
  headerNames: texts(17),
  /** Where it began. */
  from: integer(18),
});
export type SubscriptionData = MessageOf<typeof subscriptionMessage>;

/** A delivery that is still to be made. */
export const pendingDeliveryMessage = message({
  sequence: integer(1),
  attempts: integer(2),
  nextAttempt: optionalTimestamp(3),
  lastStatus: integer(4),
  lastError: text(5),
  lastResponse: bytes(6),
});
export type PendingDelivery = MessageOf<typeof pendingDeliveryMessage>;

/** How far a subscription is. */
export const deliveryMessage = message({
  /** Everything up to here is done, or pending. */
  position: integer(1),
  pending: repeated(2, pendingDeliveryMessage),
  /** Since when nothing has succeeded. */
  failingSince: optionalTimestamp(3),
});
export type DeliveryData = MessageOf<typeof deliveryMessage>;

/** An event that a receiver refused for good. */
export const deadMessage = message({
  event: embedded(1, eventMessage),
  attempts: integer(2),
  diedAt: timestamp(3),
  lastStatus: integer(4),
  lastError: text(5),
  lastResponse: bytes(6),
});
export type DeadData = MessageOf<typeof deadMessage>;
