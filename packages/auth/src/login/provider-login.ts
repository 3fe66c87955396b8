import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AuthLogger, ProviderLogins, Redirection, Session } from '../auth.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import { openSecret, sealSecret } from '../crypto/secret-box.ts';
import type { ClientOrigin, Identity, RequestHead } from '../identity.ts';
import type { User } from '../model.ts';
import type { ClaimMapping, Claims, IdentityProvider, LoginChecks } from '../sources/contract.ts';
import type { ClaimedUsers } from './claimed-users.ts';
import {
  endCookie,
  providerLoginCookie,
  readCookies,
  sessionCookies,
  setCookie,
  startSessionCookie,
  type CookieSettings,
} from './cookies.ts';

const maxAgeSeconds = 600;
const loginPage = '/auth/login';

export interface ProviderLoginOptions {
  readonly keys: KeyRing;
  readonly provider: IdentityProvider;
  readonly claims: ClaimMapping;
  readonly users: ClaimedUsers;
  readonly startSession: (
    user: User,
    friendlyName: string | undefined,
    request: RequestHead,
  ) => Promise<Session>;
  readonly cookies: CookieSettings;
  readonly logger: AuthLogger;
}

interface Begun extends LoginChecks {
  readonly next: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * Logs browsers in at an identity provider. What was sent along is kept by the browser alone, sealed: an answer counts
 * only in the browser that asked for it, once, within ten minutes.
 */
export class ProviderLogin implements ProviderLogins {
  readonly #options: ProviderLoginOptions;

  constructor(options: ProviderLoginOptions) {
    this.#options = options;
  }

  async begin(next: string | undefined, client: ClientOrigin): Promise<Redirection> {
    const { keys, provider, cookies } = this.#options;
    const begun: Begun = {
      state: randomBytes(32).toString('base64url'),
      nonce: randomBytes(32).toString('base64url'),
      codeVerifier: randomBytes(32).toString('base64url'),
      next: localPath(next),
      expiresAt: Math.floor(cookies.clock() / 1000) + maxAgeSeconds,
    };
    const location = await provider.authorizationUrl(begun);
    const box = sealSecret(keys, JSON.stringify(begun), providerLoginCookie, 'svc/oidc-state');
    return {
      location,
      cookies: [
        setCookie(providerLoginCookie, box.toString('base64url'), maxAgeSeconds, client, cookies),
        ...sessionCookies.map((name) => endCookie(name, client, cookies)),
      ],
    };
  }

  async finish(request: RequestHead & { readonly query: URLSearchParams }): Promise<Redirection> {
    const { users, claims: mapping, cookies, startSession, logger } = this.#options;
    const forget = endCookie(providerLoginCookie, request.client, cookies);
    const fields = {
      authenticator: mapping.source,
      client_ip: request.client.ip,
      ...(request.requestId !== undefined && { request_id: request.requestId }),
    };
    const refuse = (reason: string): Redirection => {
      logger.info({ event: 'login failed', reason, ...fields }, 'authentication failed');
      return { location: loginPage, cookies: [forget] };
    };
    const begun = this.#begun(request);
    if (begun === undefined) return refuse('the browser did not begin a login here, or too long ago');
    if (!sameText(request.query.get('state') ?? '', begun.state)) {
      return refuse('the answer belongs to another login');
    }
    let claims: Claims;
    try {
      claims = await this.#options.provider.claimsOf(request.query, begun);
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
    const claimed = await users.userOf(claims, mapping);
    if (typeof claimed === 'string') return refuse(claimed);
    const { user, friendlyName } = claimed;
    logger.info({ event: 'login', user: user.username, ...fields }, 'login');
    const session = await startSession(user, friendlyName, request);
    return { location: begun.next, cookies: [startSessionCookie(session, request.client, cookies), forget] };
  }

  async logoutUrl({ user }: Identity): Promise<string | undefined> {
    const { provider, claims } = this.#options;
    return user.source === claims.source ? provider.logoutUrl() : undefined;
  }

  #begun({ headers }: RequestHead): Begun | undefined {
    const box = readCookies(headers['cookie']).get(providerLoginCookie);
    if (box === undefined) return undefined;
    const bytes = Buffer.from(box, 'base64url');
    const text = openSecret(this.#options.keys, bytes, providerLoginCookie, 'svc/oidc-state');
    if (text === undefined) return undefined;
    const begun = JSON.parse(text) as Begun;
    return begun.expiresAt * 1000 > this.#options.cookies.clock() ? begun : undefined;
  }
}

/** The path when it leads to a page of this server, whatever a browser makes of it; else the first page. */
function localPath(next: string | undefined): string {
  if (next === undefined || next.length > 2048 || !next.startsWith('/')) return '/';
  const here = 'http://here.invalid';
  if (!URL.canParse(next, here)) return '/';
  const url = new URL(next, here);
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === here && !path.startsWith('//') ? path : '/';
}

function sameText(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}
