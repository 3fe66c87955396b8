import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isJwt } from '../crypto/jwt.ts';
import { authenticationFailed, AuthError, boundToBucket } from '../errors.ts';
import type { AuthMethod, Identity, RequestHead } from '../identity.ts';
import type { CallerCache, KnownKey } from './caller-cache.ts';
import { externalSessionCookie, readCookies, sessionCookies } from './cookies.ts';
import { refuseCrossOrigin } from './cross-origin.ts';
import type { ExternalSession } from './external-session.ts';
import type { LoginTokens } from './login-tokens.ts';
import type { PasswordChain } from './password-chain.ts';

export interface RequestAuthenticatorOptions {
  readonly callers: CallerCache;
  readonly tokens: LoginTokens;
  readonly passwords: PasswordChain;
  readonly externalSession: ExternalSession | undefined;
}

interface Verified {
  readonly key: KnownKey;
  readonly identity: Identity;
}

/** Headers remembered; more than a server's active clients. */
const maxVerified = 4096;

/** The first source of identity that a request carries decides; a wrong one is not made up for by the next. */
export class RequestAuthenticator {
  readonly #options: RequestAuthenticatorOptions;
  readonly #salt = randomBytes(16).toString('base64');
  /**
   * Basic headers whose secret was right, with the key that showed it. They hold as long as the caches hold those
   * very copies of key and user, so whatever drops a copy (a change, its age) also ends this. Kept under a salted
   * digest: finding one takes no time that tells how much of a guess was right, and no secret stays in memory.
   */
  readonly #verified = new Map<string, Verified>();
  /** The last recognized header of each connection: its next request mostly has the same one. */
  readonly #lastOf = new WeakMap<object, { readonly header: Buffer; readonly verified: Verified }>();

  constructor(options: RequestAuthenticatorOptions) {
    this.#options = options;
  }

  authenticateAtOnce(headers: RequestHead['headers'], connection: object): Identity | undefined {
    const header = headers['authorization'];
    if (typeof header !== 'string') return undefined;
    const bytes = Buffer.from(header, 'latin1');
    const last = this.#lastOf.get(connection);
    if (
      last?.header.length === bytes.length &&
      timingSafeEqual(last.header, bytes) &&
      this.#holds(last.verified)
    ) {
      return last.verified.identity;
    }
    const verified = this.#verified.get(this.#digest(header));
    if (verified === undefined || !this.#holds(verified)) return undefined;
    this.#lastOf.set(connection, { header: bytes, verified });
    return verified.identity;
  }

  #holds({ key, identity }: Verified): boolean {
    const { callers } = this.#options;
    return callers.keyAtOnce(key.accessKeyId) === key && callers.userAtOnce(key.username) === identity.user;
  }

  #remember(header: string | readonly string[] | undefined, key: KnownKey, identity: Identity): void {
    if (typeof header !== 'string') return;
    const digest = this.#digest(header);
    if (this.#verified.size >= maxVerified && !this.#verified.has(digest)) {
      for (const oldest of this.#verified.keys()) {
        this.#verified.delete(oldest);
        break;
      }
    }
    this.#verified.set(digest, { key, identity });
  }

  #digest(header: string): string {
    return hash('sha256', this.#salt + header, 'base64');
  }

  async authenticate(request: RequestHead): Promise<Identity | undefined> {
    const authorization = readAuthorization(request.headers['authorization']);
    if (authorization?.scheme === 'bearer') return this.#byToken(authorization.token, 'bearer');
    if (authorization?.scheme === 'basic') {
      const { username, password } = authorization;
      const { client, requestId } = request;
      const attempt = { username, password, client, requestId, allowEmail: false };
      const { user, accessKeyId, key } = await this.#options.passwords.authenticate(attempt);
      if (accessKeyId === undefined) return { user, method: 'basic' };
      const identity: Identity = { user, method: 'basic', accessKeyId };
      if (key !== undefined) this.#remember(request.headers['authorization'], key, identity);
      return identity;
    }
    const header = request.headers['cookie'];
    return header === undefined ? undefined : this.#byCookie(request, readCookies(header));
  }

  /**
   * The caller by the token of a session. Undefined when the request carries none that holds, or when another site makes
   * the browser send it.
   */
  async session(request: RequestHead): Promise<Identity | undefined> {
    try {
      const authorization = readAuthorization(request.headers['authorization']);
      if (authorization?.scheme === 'bearer') return await this.#byToken(authorization.token, 'bearer');
      const cookies = readCookies(request.headers['cookie']);
      for (const name of sessionCookies) {
        const token = cookies.get(name);
        if (token === undefined || !isJwt(token)) continue;
        // Ending a session changes something, whatever the method.
        refuseCrossOrigin({ ...request, method: 'POST' });
        return await this.#byToken(token, 'cookie');
      }
      return undefined;
    } catch (error) {
      if (error instanceof AuthError && (error.kind === 'unauthenticated' || error.kind === 'forbidden')) {
        return undefined;
      }
      throw error;
    }
  }

  async #byCookie(request: RequestHead, cookies: ReadonlyMap<string, string>): Promise<Identity | undefined> {
    for (const name of sessionCookies) {
      const token = cookies.get(name);
      if (token === undefined || !isJwt(token)) continue;
      const identity = await this.#byToken(token, 'cookie');
      refuseCrossOrigin(request);
      return identity;
    }
    const { externalSession } = this.#options;
    const session = cookies.get(externalSessionCookie);
    if (externalSession === undefined || session === undefined) return undefined;
    const user = await externalSession.userOf(session);
    if (user === undefined) throw authenticationFailed();
    refuseCrossOrigin(request);
    return { user, method: 'external_cookie' };
  }

  async #byToken(token: string, method: AuthMethod): Promise<Identity> {
    const { tokens, callers } = this.#options;
    const claims = tokens.verify(token);
    if (claims === undefined) throw authenticationFailed();
    const known = await callers.user(claims.username);
    if (known === undefined || claims.issuedAt < (known.tokensValidAfter ?? 0)) throw authenticationFailed();
    const { accessKeyId, sessionId: id, expiresAt, friendlyName } = claims;
    const user = friendlyName === undefined ? known : { ...known, friendlyName };
    if (id !== undefined && (await callers.hasEnded(user.username, id))) throw authenticationFailed();
    const caller = { user, method, ...(id !== undefined && { session: { id, expiresAt } }) };
    if (accessKeyId === undefined) return caller;
    const key = await callers.key(accessKeyId);
    if (key?.username !== user.username) throw authenticationFailed();
    if (key.hasView) throw boundToBucket();
    return { ...caller, accessKeyId };
  }
}

type Authorization =
  | { readonly scheme: 'bearer'; readonly token: string }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string };

/** Undefined when absent, malformed or of a scheme that is not ours to judge. */
function readAuthorization(header: string | readonly string[] | undefined): Authorization | undefined {
  if (typeof header !== 'string') return undefined;
  const [scheme = '', value, ...more] = header.split(/\s+/).filter((field) => field !== '');
  if (value === undefined || more.length > 0) return undefined;
  const name = scheme.toLowerCase();
  if (name === 'bearer') return { scheme: 'bearer', token: value };
  if (name !== 'basic' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) return undefined;
  const text = Buffer.from(value, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { scheme: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
}
