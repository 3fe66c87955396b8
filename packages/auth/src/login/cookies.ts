import type { Session } from '../auth.ts';
import type { ClientOrigin } from '../identity.ts';

/** Cookies that may carry one of our tokens, in the order they are looked at. */
export const sessionCookies = ['access_token', 'internal_auth_session'] as const;
/** Set by another service. */
export const externalSessionCookie = 'saml_auth_session';
/** What a browser keeps while it is at the identity provider. */
export const providerLoginCookie = 'oidc_auth_session';

export function readCookies(header: string | readonly string[] | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  if (header === undefined) return cookies;
  const text = typeof header === 'string' ? header : header.join(';');
  for (const pair of text.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    const unquoted =
      value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
    if (!cookies.has(name)) cookies.set(name, unquoted);
  }
  return cookies;
}

export interface CookieSettings {
  readonly domain: string | undefined;
  readonly clock: () => number;
}

export function startSessionCookie(session: Session, client: ClientOrigin, settings: CookieSettings): string {
  const maxAge = Math.max(0, session.expiresAt - Math.floor(settings.clock() / 1000));
  return setCookie(sessionCookies[0], session.token, maxAge, client, settings);
}

export function endSessionCookies(client: ClientOrigin, settings: CookieSettings): string[] {
  return [...sessionCookies, externalSessionCookie].map((name) => endCookie(name, client, settings));
}

export function setCookie(
  name: string,
  value: string,
  maxAge: number,
  client: ClientOrigin,
  settings: CookieSettings,
): string {
  return `${name}=${value}; Max-Age=${maxAge}${attributes(client, settings)}`;
}

export function endCookie(name: string, client: ClientOrigin, settings: CookieSettings): string {
  return `${name}=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT${attributes(client, settings)}`;
}

function attributes(client: ClientOrigin, { domain }: CookieSettings): string {
  const scope = domain === undefined || domain === '' ? '' : `; Domain=${domain}`;
  return `; Path=/${scope}; HttpOnly; SameSite=Lax${client.secure ? '; Secure' : ''}`;
}
