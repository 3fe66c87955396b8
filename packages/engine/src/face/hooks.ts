import type { KvWrite } from '@svc/kv';
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
  /** The same text for the same action files; absent when they must be looked for. */
  readonly files?: string | undefined;
  readonly branch?: string | undefined;
  readonly commitId?: string | undefined;
  /** The id the commit gets when nothing comes between. For the record of the run: hooks are not told. */
  readonly candidateId?: string | undefined;
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
 * `EngineError('hook_aborted')`; `after` is called once the operation succeeded, and must not throw.
 */
export interface HookPoints {
  /**
   * Where the files lie that say which hooks there are. Nobody is called about a ref without any; without this list
   * every event is told.
   */
  readonly folders?: readonly string[];
  before(event: HookEvent<PreEventType>): Promise<HookRun | undefined>;
  /**
   * What puts an event on record that is about to happen: written to the repository's partition in the very step that
   * makes it happen. `after` is not called about an event without any.
   */
  noteAfter?(event: HookEvent<PostEventType>): Promise<readonly KvWrite[]>;
  after(event: HookEvent<PostEventType>): Promise<void> | undefined;
  /** The candidate of a run did not become a commit. Must not throw. */
  withdraw?(repository: Repository, run: HookRun): Promise<void>;
  /**
   * True when the error says that action files could not be read, so that a forced branch deletion may go on.
   */
  isUnreadable?(error: unknown): boolean;
}
