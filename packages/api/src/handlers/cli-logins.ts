import type { CliLogin } from '@svc/auth';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';

export function cliLoginHandlers({ auth: { cliLogins } }: ApiOptions): HandlersOf<'cli-logins'> {
  return {
    async beginCliLogin({ body: { challenge, host, callback }, client }) {
      return cliLoginView(await cliLogins.begin({ challenge, host, callback, client }));
    },

    async getCliLogin({ params, identity }) {
      return cliLoginView(await cliLogins.get(params.login, identity));
    },

    approveCliLogin({ params, identity }) {
      return cliLogins.approve(params.login, identity);
    },

    async finishCliLogin({ params, body: { verifier, code }, client, logIn }) {
      const session = await cliLogins.finish(params.login, { verifier, code }, client);
      if (session === undefined) return {};
      logIn(session.username);
      return { token: session.token, token_expiration: session.expiresAt };
    },
  };
}

function cliLoginView({ name, host, ip, expiresAt }: CliLogin) {
  return { name, host, source_ip: ip, expiration_date: expiresAt };
}
