import type { MessageOf } from './fields.ts';
import { flag, int32, integer, message, text, timestamp } from './fields.ts';

/** Nothing is collected and nothing forbids it. */
export const gcIdle = 0;
/** Nothing may be collected: the repository is not whole. */
export const gcHeld = 3;

export const gcStateMessage = message({
  generation: integer(1),
  phase: int32(2),
  runId: text(3),
  owner: text(4),
  beat: integer(5),
  batch: integer(6),
  inFlight: flag(7),
  reason: text(8),
});
export type GcState = MessageOf<typeof gcStateMessage>;

/** What an external collector was last told. */
export const gcExternalMessage = message({
  generation: integer(1),
  firstPage: timestamp(2),
  lastCall: timestamp(3),
});
export type GcExternal = MessageOf<typeof gcExternalMessage>;
