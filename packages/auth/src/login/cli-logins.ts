import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import type { Session, SessionOrigin } from '../auth.ts';
import { AuthError } from '../errors.ts';
import type { ClientOrigin, Identity } from '../identity.ts';
import type { User } from '../model.ts';
import type { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import type { CallerCache } from './caller-cache.ts';
import type { CliLogin, CliLogins, CliLoginStart } from './contract.ts';
import type { FailureLimits } from './failure-limits.ts';

const lifetimeSeconds = 600;
/** Longest validity of a token that a person lets a program have. */
const maxTokenSeconds = 12 * 3600;
/** A session of another service does not tell when it ends. */
const unknownSessionSeconds = 3600;

/** Letters that are not mistaken for each other and spell no words. */
const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ';

interface StoredLogin {
  /** Digest of the verifier, which only the program that began the login knows. */
  readonly challenge: string;
  readonly host: string;
  readonly ip: string;
  readonly callback?: { readonly port: number; readonly state: string } | undefined;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly approval?: Approval | undefined;
}

interface Approval {
  readonly username: string;
  readonly friendlyName?: string | undefined;
  readonly accessKeyId?: string | undefined;
  /** The session that approved. */
  readonly sessionId?: string | undefined;
  /** Unix seconds. */
  readonly at: number;
  readonly tokenExpiresAt: number;
  /** Digest of the code that the browser carries to the program. */
  readonly code?: string | undefined;
}

interface CliLoginParts {
  readonly store: AuthStore;
  readonly callers: CallerCache;
  readonly limits: FailureLimits;
  readonly clock: () => number;
  /** A session of the user, with its record. */
  readonly startSession: (
    user: User,
    seconds: number,
    approval: { readonly accessKeyId?: string | undefined; readonly friendlyName?: string | undefined },
    origin: SessionOrigin,
  ) => Promise<Session>;
}

/**
 * Logins of command-line programs for people who have no keys. The program begins one and keeps a verifier; a person
 * approves it in a browser that is logged in; whoever shows the verifier gets a token, once. Where the program can
 * listen on the browser's machine, the approval also makes a code that only that browser learns and carries there, so
 * that somebody who talks a person into approving a login gains nothing. Elsewhere the person types the code that the
 * program shows.
 */
export class CliLoginStore implements CliLogins {
  readonly #parts: CliLoginParts;

  constructor(parts: CliLoginParts) {
    this.#parts = parts;
  }

  async begin({ challenge, host, callback, client }: CliLoginStart): Promise<CliLogin> {
    const { store, limits } = this.#parts;
    limits.require('cliLogin', client.ip);
    await limits.failed('cliLogin', client.ip);
    const expiresAt = this.#now() + lifetimeSeconds;
    const record: StoredLogin = { challenge, host, ip: client.ip, callback, expiresAt };
    for (;;) {
      const name = callback === undefined ? typedCode() : randomBytes(16).toString('base64url');
      if (await store.setTextIf(keys.cliLogins + name, JSON.stringify(record), 'absent'))
        return { name, ...record };
    }
  }

  async get(name: string, identity: Identity): Promise<CliLogin> {
    const { login } = await this.#pending(name, identity);
    return { name, host: login.host, ip: login.ip, expiresAt: login.expiresAt };
  }

  async approve(name: string, identity: Identity): Promise<{ readonly redirect: string | undefined }> {
    const { method, session, user, accessKeyId } = identity;
    if (method !== 'cookie' && method !== 'external_cookie')
      throw new AuthError('forbidden', 'only a browser that is logged in can approve a login');
    const { login, predicate, key } = await this.#pending(name, identity);
    const now = this.#now();
    const code = login.callback === undefined ? undefined : randomBytes(32).toString('base64url');
    const approval: Approval = {
      username: user.username,
      friendlyName: user.friendlyName,
      accessKeyId,
      sessionId: session?.id,
      at: now,
      // A token never outlives the session it comes from, or a thief of one could renew it for ever.
      tokenExpiresAt: Math.min(now + maxTokenSeconds, session?.expiresAt ?? now + unknownSessionSeconds),
      code: code === undefined ? undefined : digest(code),
    };
    const isFirst = await this.#parts.store.setTextIf(key, JSON.stringify({ ...login, approval }), predicate);
    if (!isFirst) throw noSuchLogin();
    if (login.callback === undefined || code === undefined) return { redirect: undefined };
    const query = new URLSearchParams({ code, state: login.callback.state });
    return { redirect: `http://127.0.0.1:${login.callback.port}/?${query.toString()}` };
  }

  /** Undefined as long as nobody has approved it. */
  async finish(
    name: string,
    proof: { readonly verifier: string; readonly code?: string | undefined },
    client: ClientOrigin,
  ): Promise<Session | undefined> {
    const { store, callers, startSession } = this.#parts;
    const stored = await this.#stored(name);
    if (stored === undefined || !same(stored.login.challenge, digest(proof.verifier)))
      return this.#refuse(client);
    const { approval, host } = stored.login;
    if (approval === undefined) return undefined;
    if (approval.code !== undefined && !same(approval.code, digest(proof.code ?? '')))
      return this.#refuse(client);
    // Whoever deletes it may have the token.
    if (!(await store.deleteTextIf(stored.key, stored.predicate))) return this.#refuse(client);
    const user = await callers.user(approval.username);
    const { sessionId } = approval;
    const isOver =
      user === undefined ||
      approval.at < (user.tokensValidAfter ?? 0) ||
      (sessionId !== undefined && (await callers.hasEnded(user.username, sessionId)));
    const seconds = approval.tokenExpiresAt - this.#now();
    if (isOver || seconds <= 0) throw noSuchLogin();
    return startSession(user, seconds, approval, { ip: client.ip, agent: `svcctl on ${host}` });
  }

  async #refuse(client: ClientOrigin): Promise<never> {
    const { limits } = this.#parts;
    limits.require('cliLogin', client.ip);
    await limits.failed('cliLogin', client.ip);
    throw noSuchLogin();
  }

  /** One that waits for an approval. Codes are short, so nobody may try many. */
  async #pending(name: string, { user }: Identity) {
    const { limits } = this.#parts;
    limits.require('cliCode', user.username);
    const stored = await this.#stored(name);
    if (stored !== undefined && stored.login.approval === undefined) return stored;
    await limits.failed('cliCode', user.username);
    throw noSuchLogin();
  }

  async #stored(name: string) {
    const key = keys.cliLogins + name;
    const found = await this.#parts.store.textStored(key);
    if (found === undefined) return undefined;
    const login = JSON.parse(found.record) as StoredLogin;
    return login.expiresAt <= this.#now() ? undefined : { login, predicate: found.predicate, key };
  }

  #now(): number {
    return Math.floor(this.#parts.clock() / 1000);
  }
}

function typedCode(): string {
  const letters = Array.from({ length: 8 }, () => codeLetters[randomInt(codeLetters.length)] ?? '');
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

function same(left: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', left, 'buffer'), hash('sha256', right, 'buffer'));
}

/** Says the same whether it never was, was used or has expired. */
function noSuchLogin(): AuthError {
  return new AuthError(
    'not_found',
    'there is no such login: it was used, has expired, or the code is wrong; run "svcctl login" again',
  );
}
