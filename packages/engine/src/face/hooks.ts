import type { Actor, Commit, Repository } from './model.ts';

export type PreEventType =
  | 'prepare-commit'
  | 'pre-commit'
  | 'pre-merge'
  | 'pre-create-branch'
  | 'pre-delete-branch'
  | 'pre-create-tag'
  | 'pre-delete-tag'
  | 'pre-revert'
  | 'pre-cherry-pick';

export type PostEventType =
  | 'post-commit'
  | 'post-merge'
  | 'post-create-branch'
  | 'post-delete-branch'
  | 'post-create-tag'
  | 'post-delete-tag'
  | 'post-revert'
  | 'post-cherry-pick';

/** What a hook is told. Empty fields are left out of its payload. */
export interface HookEvent<Type extends PreEventType | PostEventType = PreEventType | PostEventType> {
  readonly type: Type;
  readonly repository: Repository;
  readonly actor: Actor;
  /** The ref action files are read from. */
  readonly sourceRef: string;
  readonly branch?: string | undefined;
  readonly commitId?: string | undefined;
  /** The commit made or about to be made; `prepare-commit` knows message, committer and metadata only. */
  readonly commit?: Partial<Commit> | undefined;
  readonly tag?: string | undefined;
  readonly mergeSource?: string | undefined;
  /** Run id of the pre-event of the same operation. */
  readonly preRunId?: string | undefined;
}

/** A run that was recorded; a pre-event without one matched no action. */
export interface HookRun {
  readonly runId: string;
}

/**
 * The engine's hook points. `before` runs inside the operation and aborts it by throwing
 * `EngineError('hook_aborted')`; `after` is called once the operation succeeded, resolves when what is to run is on
 * record, and must not throw.
 */
export interface HookPoints {
  /**
   * Where the files lie that say which hooks there are. Nobody is called about a ref without any; without this list
   * every event is told.
   */
  readonly folders?: readonly string[];
  before(event: HookEvent<PreEventType>): Promise<HookRun | undefined>;
  after(event: HookEvent<PostEventType>): Promise<void> | undefined;
  /**
   * True when the error says that action files could not be read, so that a forced branch deletion may go on.
   */
  isUnreadable?(error: unknown): boolean;
}
