import type { MessageOf } from './fields.ts';
import {
  bytes,
  embedded,
  flag,
  integer,
  message,
  optionalInt32,
  optionalTimestamp,
  text,
  texts,
  timestamp,
} from './fields.ts';
import { repositoryMessage } from './repository-messages.ts';

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
export const moveOfView = 4;

/** What a bucket name means: a repository, a ref and a prefix. */
export const bindingMessage = message({
  bucket: text(1),
  repository: text(2),
  instanceUid: text(3),
  ref: text(4),
  /** Set when the ref was resolved once and for all. */
  commitId: text(5),
  prefix: text(6),
  readOnly: flag(7),
  description: text(8),
  createdAt: timestamp(9),
  createdBy: text(10),
  updatedAt: timestamp(11),
  updatedBy: text(12),
  generation: integer(13),
  /** Id of the record of its last move. */
  lastMove: bytes(14),
});
export type BindingData = MessageOf<typeof bindingMessage>;

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
  /** Of aliases and views: what the bucket means after the move, and before it. */
  binding: embedded(16, bindingMessage),
  oldBinding: embedded(17, bindingMessage),
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

/** A repository that was deleted and can come back. */
export const deletedRepositoryMessage = message({
  repository: embedded(1, repositoryMessage),
  deletedAt: timestamp(2),
  user: text(3),
  /** Id of the record of its deletion. */
  move: bytes(4),
  /** The repository that has taken its namespace meanwhile. */
  displacedBy: text(5),
  /** When its time in the trash is over. */
  due: optionalTimestamp(6),
  /** Its data goes with its records. */
  deleteData: flag(7),
  purging: flag(8),
});
export type DeletedRepositoryData = MessageOf<typeof deletedRepositoryMessage>;
