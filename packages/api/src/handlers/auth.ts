import type { IncomingMessage } from 'node:http';
import type { ClientOrigin, SessionOrigin } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import { Answer } from '../answer/answer.ts';
import type { ApiOptions } from '../options.ts';
import { userView } from '../views/identity.ts';
import { administrationRights } from './shared/rights.ts';
import { notImplemented } from './shared/not-implemented.ts';

export function authHandlers({ auth }: ApiOptions): HandlersOf<'auth'> {
  return {
    async getCurrentUser({ identity, client, query }) {
      const { user } = identity;
      const view = userView(user);
      return {
        user: { ...view, friendly_name: view.friendly_name === '' ? user.username : view.friendly_name },
        ...(query.rights === true && {
          rights: administrationRights(await auth.permissionsOf(identity, client)),
        }),
      };
    },

    async login({ body, client, request, requestId, logIn }) {
      const session = await auth.login({
        username: body.access_key_id,
        password: body.secret_access_key,
        client,
        agent: request.headers['user-agent'],
        requestId,
      });
      logIn(session.username);
      return Answer.json(
        200,
        { token: session.token, token_expiration: session.expiresAt },
        { 'set-cookie': auth.sessionCookie(session, client) },
      );
    },

    async stsLogin({ body, client, request, requestId, logIn }) {
      const session = await auth.loginSts({
        code: body.code,
        state: body.state,
        redirectUri: body.redirect_uri,
        ttlSeconds: body.ttl_seconds,
        origin: originOf(client, request),
        requestId,
      });
      logIn(session.username);
      return { token: session.token, token_expiration: session.expiresAt };
    },

    async externalPrincipalLogin({ body, client, request, requestId, logIn }) {
      const session = await auth.loginExternalPrincipal({
        identityRequest: body.identityRequest,
        durationSeconds: body.token_expiration_duration,
        origin: originOf(client, request),
        requestId,
      });
      logIn(session.username);
      return { token: session.token, token_expiration: session.expiresAt };
    },

    async oauthCallback({ request, client, requestId }) {
      const { providerLogin } = auth;
      if (providerLogin === undefined) return notImplemented();
      const { url = '', headers } = request;
      const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');
      const { location, cookies } = await providerLogin.finish({
        method: 'GET',
        headers,
        client,
        requestId,
        query,
      });
      return new Answer(302, { location, 'set-cookie': cookies, 'cache-control': 'no-store' });
    },

    forgotPassword({ body, client }) {
      const { passwordMails } = auth;
      if (passwordMails === undefined) return notImplemented();
      passwordMails.forgot(body.email, client);
    },

    async updatePassword({ body }) {
      const { passwordMails } = auth;
      if (passwordMails === undefined) return notImplemented();
      await passwordMails.setPassword(body.token, body.newPassword, body.email);
    },
  };
}

function originOf({ ip }: ClientOrigin, { headers }: IncomingMessage): SessionOrigin {
  return { ip, agent: headers['user-agent'] ?? '' };
}
