import type { NewEvent } from '@svc/encoding';
import type { AuthLogger } from '../auth.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { AuthActor } from '../model.ts';
import type { AuthStore } from '../store/auth-store.ts';

/** What was changed, so that every worker of this server drops its copy before the change is acknowledged. */
export interface Changes {
  user(username: string): Promise<void>;
  /** One key, or every one. */
  credential(accessKeyId?: string): Promise<void>;
  /** Effective policies of one user, or of everybody. */
  policies(username?: string): Promise<void>;
  externalPrincipal(id: string): Promise<void>;
  sessions(username: string): Promise<void>;
}

export interface RbacContext {
  readonly store: AuthStore;
  readonly keys: KeyRing;
  readonly changes: Changes;
  readonly clock: () => number;
  readonly logger: AuthLogger;
}

/** What is told of a change: names only. */
export function changeEvent(
  actor: AuthActor,
  type: string,
  subject: string,
  data?: Readonly<Record<string, string>>,
): NewEvent {
  return { type: `svc.${type}`, subject, user: actor.username, data };
}

/** One line per change of who may do what. */
export function logChange(
  context: RbacContext,
  actor: AuthActor,
  event: string,
  target: Readonly<Record<string, string>>,
): void {
  const request = actor.requestId === undefined ? {} : { request_id: actor.requestId };
  context.logger.info({ event, actor: actor.username, ...target, ...request }, `access control: ${event}`);
}
