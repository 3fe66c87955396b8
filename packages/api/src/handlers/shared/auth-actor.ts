import type { AuthActor, Identity } from '@svc/auth';

/** Who is named in the log of changes to users, groups, policies and keys. */
export function authActor(call: { readonly identity: Identity; readonly requestId: string }): AuthActor {
  return { username: call.identity.user.username, requestId: call.requestId };
}
