import type { MoveKind, StringMap, Timestamp } from '@svc/encoding';
import type { Actor, Forceable, InRepository, OnBranch, Page } from './model.ts';

export type LoggedRefType = 'branch' | 'tag';

/** One move of a branch or tag, as the log tells it. */
export interface RefMoveInfo {
  readonly id: string;
  readonly time: Timestamp;
  readonly kind: MoveKind;
  readonly refType: LoggedRefType;
  readonly refId: string;
  /** Absent: the ref did not exist before, or does not any more. */
  readonly oldCommitId: string | undefined;
  readonly newCommitId: string | undefined;
  readonly user: string;
  readonly source: string | undefined;
  readonly hidden: boolean;
  readonly requestId: string | undefined;
  /** Whether there is something to go back to. */
  readonly restorable: boolean;
}

export interface ListMovesOptions extends InRepository {
  /** Only moves of this branch or tag, also when it is deleted. */
  readonly ref?: string | undefined;
  /** Only moves of these; of a `ref` the first that exists. */
  readonly types: readonly LoggedRefType[];
  readonly kinds?: readonly string[] | undefined;
  readonly user?: string | undefined;
  /** Milliseconds since 1970, both inclusive. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly showHidden?: boolean | undefined;
  /** Id of a move; exclusive. */
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
}

/** A branch or tag that can be brought back. */
export interface DeletedRef {
  readonly type: LoggedRefType;
  readonly id: string;
  readonly commitId: string;
  readonly deletedAt: Timestamp;
  readonly deletedBy: string;
  readonly restorableUntil: Timestamp;
  readonly moveId: string;
  readonly hidden: boolean;
}

export interface ListDeletedOptions extends InRepository {
  readonly types: readonly LoggedRefType[];
  readonly prefix?: string | undefined;
  readonly showHidden?: boolean | undefined;
  /** `nextOffset` of the page before. */
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
}

export interface UndeleteOptions extends InRepository, Forceable {
  readonly type: LoggedRefType;
  readonly id: string;
  /** Another name for it. */
  readonly as?: string | undefined;
  /** Which of its deletions; the last one when absent. */
  readonly moveId?: string | undefined;
  readonly actor: Actor;
}

export interface UndeletedRef {
  readonly type: LoggedRefType;
  readonly id: string;
  readonly commitId: string;
  readonly moveId: string;
}

export interface RollbackOptions extends OnBranch, Forceable {
  /** Id of a move of the branch, to go back to before it, or a commit-valued ref. */
  readonly to: string;
  /** `commit`: a new commit with the tree of the target; `reset`: the head moves there. */
  readonly mode: 'commit' | 'reset';
  readonly message?: string | undefined;
  readonly metadata?: StringMap | undefined;
  readonly actor: Actor;
}

export interface RolledBack {
  readonly commitId: string;
  readonly previousCommitId: string;
  readonly moveId: string;
}

export interface Reflog {
  /** Newest first. A filtered page may be short while there is more. */
  list(options: ListMovesOptions): Promise<Page<RefMoveInfo>>;
  get(options: InRepository & { readonly move: string }): Promise<RefMoveInfo>;
  /** Forgets what happened before a time (milliseconds since 1970), also for collectors. */
  expire(options: InRepository & { readonly before: number }): Promise<void>;
  listDeleted(options: ListDeletedOptions): Promise<Page<DeletedRef>>;
  undelete(options: UndeleteOptions): Promise<UndeletedRef>;
  rollback(options: RollbackOptions): Promise<RolledBack>;
  /** Undefined: the setting of the server holds. */
  getRetentionDays(repository: string): Promise<number | undefined>;
  setRetentionDays(options: InRepository & { readonly days: number | undefined }): Promise<void>;
}
