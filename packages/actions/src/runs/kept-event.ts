import type { HookEvent, PostEventType } from '@svc/engine';

/** What is kept of an event that is over, so that its hooks can run, also once more. */
export interface KeptEvent {
  /** Its commit is read when it is needed. */
  readonly event: Omit<HookEvent<PostEventType>, 'commit'>;
  /** The event is about a commit that was made. */
  readonly tellsCommit: boolean;
  /** The run that somebody wanted once more. */
  readonly rerunOf?: string | undefined;
}
