import type { Auth, ClientOrigin, Identity, Redirection } from '@svc/auth';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Logger } from '../logging/index.ts';

/** The pages that begin and end sessions of browsers. */
export interface SessionPages {
  /** Ends the sessions of whoever asks. */
  logout(request: IncomingMessage): Promise<Redirection>;
  /** Sends a browser to the identity provider; undefined when there is none. */
  readonly providerLogin: ((request: IncomingMessage) => Promise<Redirection>) | undefined;
}

export const defaultLogoutPage = '/auth/login';

export function createSessionPages(auth: Auth, logoutPage: string, logger: Logger): SessionPages {
  const { providerLogin } = auth;
  /** A page that the operator chose wins; a provider that does not answer keeps nobody logged in here. */
  async function pageAfter(identity: Identity | undefined): Promise<string> {
    if (identity === undefined || providerLogin === undefined || logoutPage !== defaultLogoutPage)
      return logoutPage;
    try {
      return (await providerLogin.logoutUrl(identity)) ?? logoutPage;
    } catch (error) {
      logger.warn({ error }, 'the identity provider could not be asked where sessions end');
      return logoutPage;
    }
  }
  return {
    async logout(request) {
      const client = clientOf(auth, request);
      const identity = await auth.logout({ method: request.method ?? '', headers: request.headers, client });
      return { cookies: auth.logoutCookies(client), location: await pageAfter(identity) };
    },
    providerLogin:
      providerLogin === undefined
        ? undefined
        : (request) => providerLogin.begin(nextOf(request), clientOf(auth, request)),
  };
}

function clientOf(auth: Auth, request: IncomingMessage): ClientOrigin {
  const socket = request.socket as Partial<TLSSocket>;
  return auth.clientOf(request.socket.remoteAddress ?? '', socket.encrypted === true, request.headers);
}

function nextOf({ url = '/' }: IncomingMessage): string | undefined {
  const query = url.indexOf('?');
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get('next') ?? undefined);
}
