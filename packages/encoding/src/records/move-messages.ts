import type { MessageOf } from './fields.ts';
import { bytes, flag, integer, message, optionalInt32, text, texts } from './fields.ts';

/** What moved a ref; a record holds the place in this list. */
export const moveKinds = [
  'create',
  'commit',
  'merge',
  'cherry-pick',
  'revert',
  'import',
  'copy',
  'move',
  'hard-reset',
  'rollback',
  'delete',
  'undelete',
  'restore-refs',
  'purge',
  'set',
] as const;
export type MoveKind = (typeof moveKinds)[number];

export const moveOfBranch = 0;
export const moveOfTag = 1;
export const moveOfRepository = 2;
export const moveOfAlias = 3;

/** One move of a ref, written with it and never changed. */
export const moveMessage = message({
  kind: integer(1),
  refType: integer(2),
  refId: text(3),
  /** Commit ids as 32 bytes; empty: the ref did not, or does not, exist. */
  old: bytes(4),
  new: bytes(5),
  user: text(6),
  source: text(7),
  /** The move of this ref before it. */
  prev: bytes(8),
  /** One further back: following it where it does not lead too far finds any move in few steps. */
  jump: bytes(9),
  depth: integer(10),
  jumpDepth: integer(11),
  /** What the ref pointed to before may be lost without this record. */
  lossy: flag(12),
  hidden: flag(13),
  requestId: bytes(14),
  retiredTokens: texts(15),
});
export type MoveData = MessageOf<typeof moveMessage>;

/** The last deletion of a name. */
export const graveMessage = message({
  lastMove: bytes(1),
  commit: bytes(2),
  user: text(3),
  hidden: flag(4),
});
export type GraveData = MessageOf<typeof graveMessage>;

export const reflogSettingsMessage = message({ retentionDays: optionalInt32(1) });
export type ReflogSettings = MessageOf<typeof reflogSettingsMessage>;
