import type { Identity, SessionInfo } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { authPageView } from '../views/auth-page.ts';
import { sessionView } from '../views/identity.ts';
import { authActor } from './shared/auth-actor.ts';
import { pageRequest } from './shared/page-request.ts';

export function sessionHandlers({ auth: { sessions, users } }: ApiOptions): HandlersOf<'sessions'> {
  const viewFor =
    ({ session }: Identity) =>
    (each: SessionInfo) =>
      sessionView(each, each.id === session?.id);
  return {
    async listOwnSessions({ identity, query }) {
      const page = await sessions.list(identity.user.username, pageRequest(query));
      return authPageView(page, viewFor(identity));
    },

    async endOwnSessions(call) {
      await sessions.endAll(call.identity.user.username, authActor(call));
    },

    async endOwnSession(call) {
      await sessions.end(call.identity.user.username, call.params.sessionId, authActor(call));
    },

    async listUserSessions({ identity, params, query }) {
      await users.get(params.userId);
      return authPageView(await sessions.list(params.userId, pageRequest(query)), viewFor(identity));
    },

    async endUserSessions(call) {
      await sessions.endAll(call.params.userId, authActor(call));
    },

    async endUserSession(call) {
      await sessions.end(call.params.userId, call.params.sessionId, authActor(call));
    },
  };
}
