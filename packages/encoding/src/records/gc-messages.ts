import type { MessageOf } from './fields.ts';
import { flag, int32, integer, message, text, timestamp } from './fields.ts';

/** Nothing is collected and nothing forbids it. */
export const gcIdle = 0;
/** A collector reads what is in use. */
export const gcMarking = 1;
/** A collector deletes, batch by batch. */
export const gcSweeping = 2;
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

export const pinOfCommit = 0;
export const pinOfMetaRange = 1;
export const pinOfAddress = 2;

/** Something that came back to life while a collector was at work. */
export const gcPinMessage = message({
  kind: int32(1),
  value: text(2),
  /** Of the run it met. */
  generation: integer(3),
  expires: timestamp(4),
});
export type GcPin = MessageOf<typeof gcPinMessage>;

/** A commit whose data stays for a while, whatever the rules say. */
export const gcKeepMessage = message({ until: timestamp(1), user: text(2) });
export type GcKeep = MessageOf<typeof gcKeepMessage>;

/** The list of condemned objects that is valid. */
export const gcQuarantineMessage = message({
  runId: text(1),
  objects: integer(2),
  bytes: integer(3),
  oldest: timestamp(4),
  notBefore: timestamp(5),
  /** Of the run that wrote it. */
  generation: integer(6),
});
export type GcQuarantine = MessageOf<typeof gcQuarantineMessage>;

export const gcInherit = 0;
export const gcOn = 1;
export const gcOff = 2;
export const gcSettingsMessage = message({ enabled: int32(1), interval: integer(2), quarantine: integer(3) });
export type GcSettingsData = MessageOf<typeof gcSettingsMessage>;

export const gcRunStates = ['queued', 'running', 'completed', 'failed', 'canceled'] as const;
export const gcRunPhases = ['', 'marking', 'comparing', 'sweeping', 'reporting'] as const;

/** A run of the built-in collector. Options and report are JSON. */
export const gcRunMessage = message({
  id: text(1),
  state: int32(2),
  phase: int32(3),
  options: text(4),
  user: text(5),
  created: timestamp(6),
  started: timestamp(7),
  ended: timestamp(8),
  updated: timestamp(9),
  done: integer(10),
  total: integer(11),
  report: text(12),
  error: text(13),
  generation: integer(14),
  cancel: flag(15),
});
export type GcRunData = MessageOf<typeof gcRunMessage>;

/** An address, or a prefix ending in `/`, that a repository uses and another one owns. */
export const gcForeignMessage = message({ uri: text(1), at: timestamp(2) });
export type GcForeign = MessageOf<typeof gcForeignMessage>;
