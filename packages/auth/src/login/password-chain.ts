import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AuthLogger, CacheSettings } from '../auth.ts';
import { equalsDigest, sha256 } from '../crypto/digest.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import { verifyPassword } from '../crypto/password.ts';
import { credentialBinding, openSecret, sealSecret } from '../crypto/secret-box.ts';
import { authenticationFailed, boundToBucket } from '../errors.ts';
import type { ClientOrigin } from '../identity.ts';
import type { User } from '../model.ts';
import type { PasswordAuthenticator } from '../sources/contract.ts';
import { shortened, tooManyFailures, type FailureLimits } from './failure-limits.ts';
import type { CallerCache, KnownKey } from './caller-cache.ts';
import type { UserProvisioning } from './user-provisioning.ts';

export interface PasswordAttempt {
  readonly username: string;
  readonly password: string;
  readonly client: ClientOrigin;
  readonly requestId?: string | undefined;
  /** Also try the name as the e-mail address of a user with a password. */
  readonly allowEmail: boolean;
}

export interface Authenticated {
  readonly user: User;
  /** Set when the name was an access key. */
  readonly accessKeyId?: string;
  /** The key as it was when its secret was found right. */
  readonly key?: KnownKey;
}

export interface PasswordChainOptions {
  readonly keys: KeyRing;
  readonly callers: CallerCache;
  readonly provisioning: UserProvisioning;
  readonly authenticators: readonly PasswordAuthenticator[];
  readonly limits: FailureLimits;
  readonly cache: CacheSettings;
  readonly logger: AuthLogger;
}

/** Name and password to user: our access keys first, then every configured authenticator, then e-mail. */
export class PasswordChain {
  readonly #options: PasswordChainOptions;
  readonly #cacheKey: Buffer;
  readonly #recent: LRUCache<string, { username: string }>;
  readonly #decoy: { readonly box: Buffer; readonly digest: Buffer };

  constructor(options: PasswordChainOptions) {
    this.#options = options;
    this.#cacheKey = options.keys.keyFor('svc/login-cache');
    this.#recent = new LRUCache({
      max: Math.max(1, options.cache.size),
      ttl: Math.max(1, options.cache.ttlMs),
    });
    this.#decoy = {
      box: sealSecret(options.keys, 'no such secret', credentialBinding('decoy', 'decoy')),
      digest: sha256('no such secret'),
    };
  }

  async authenticate(attempt: PasswordAttempt): Promise<Authenticated> {
    const { limits, logger } = this.#options;
    const { ip } = attempt.client;
    // Nothing is tried, so that no guess can be right. A login can wait; of programs only those that have failed must.
    const wait = limits.exceeded('address', ip);
    const mustWait = attempt.allowEmail ? wait : limits.exceededGuess(ip, attempt.username);
    if (mustWait !== undefined) throw tooManyFailures(mustWait);
    const reasons: Record<string, string> = {};
    const builtIn = await this.#byAccessKey(attempt, reasons);
    if (builtIn !== undefined) return builtIn;
    // Keys that exist are not limited by name: whoever knows a key id could lock its owner out.
    const isOurKey = reasons['builtin'] === 'wrong secret';
    const user = isOurKey ? undefined : await this.#byAuthenticators(attempt, reasons);
    if (user !== undefined) return { user };
    logger.info(
      {
        event: 'login failed',
        user: shortened(attempt.username),
        client_ip: ip,
        reasons,
        ...request(attempt),
      },
      'authentication failed',
    );
    limits.guessFailed(ip, attempt.username);
    if (wait !== undefined) throw tooManyFailures(wait);
    throw authenticationFailed();
  }

  async #byAccessKey(
    attempt: PasswordAttempt,
    reasons: Record<string, string>,
  ): Promise<Authenticated | undefined> {
    const { callers, keys } = this.#options;
    const key = await callers.key(attempt.username);
    if (key === undefined) {
      openSecret(keys, this.#decoy.box, credentialBinding('decoy', 'decoy'));
      equalsDigest(attempt.password, this.#decoy.digest);
      reasons['builtin'] = 'unknown key';
      return undefined;
    }
    if (!equalsDigest(attempt.password, key.secretDigest)) {
      reasons['builtin'] = 'wrong secret';
      return undefined;
    }
    const user = await callers.user(key.username);
    if (user === undefined) {
      reasons['builtin'] = 'user is gone';
      return undefined;
    }
    if (key.hasView) throw boundToBucket();
    return { user, accessKeyId: key.accessKeyId, key };
  }

  async #byAuthenticators(
    attempt: PasswordAttempt,
    reasons: Record<string, string>,
  ): Promise<User | undefined> {
    const { authenticators, limits } = this.#options;
    const tryEmail = attempt.allowEmail && attempt.username.includes('@');
    if (authenticators.length === 0 && !tryEmail) return undefined;
    const subject = `${attempt.client.ip}\0${shortened(attempt.username)}`;
    limits.require('login', subject);
    let user = await this.#recently(attempt);
    for (const authenticator of authenticators) {
      user ??= await this.#ask(authenticator, attempt, reasons);
    }
    if (tryEmail) user ??= await this.#byEmail(attempt, reasons);
    // The next guess may come to another worker.
    if (user === undefined) await limits.failed('login', subject);
    else limits.succeeded('login', subject);
    return user;
  }

  async #ask(
    authenticator: PasswordAuthenticator,
    attempt: PasswordAttempt,
    reasons: Record<string, string>,
  ): Promise<User | undefined> {
    const { username, password, requestId } = attempt;
    // An empty password means "no authentication" to directories, and must not mean success to us.
    if (password === '') {
      reasons[authenticator.source] = 'empty password';
      return undefined;
    }
    let answer;
    try {
      answer = await authenticator.authenticate({ username, password, requestId });
    } catch (error) {
      reasons[authenticator.source] = 'unreachable';
      this.#options.logger.warn(
        { event: 'authenticator failed', authenticator: authenticator.source, error: messageOf(error) },
        'an authenticator could not be asked',
      );
      return undefined;
    }
    if (answer === undefined) {
      reasons[authenticator.source] = 'refused';
      return undefined;
    }
    const user = await this.#options.provisioning.ensureUser({
      id: answer.userId,
      friendlyName: username,
      source: authenticator.source,
      group: authenticator.defaultGroup,
    });
    if (typeof user === 'string') {
      reasons[authenticator.source] = user;
      return undefined;
    }
    if (!attempt.allowEmail && this.#options.cache.enabled) {
      this.#recent.set(this.#cacheName(attempt), { username: user.username });
    }
    return user;
  }

  async #byEmail(attempt: PasswordAttempt, reasons: Record<string, string>): Promise<User | undefined> {
    const found = await this.#options.callers.userByEmail(attempt.username);
    const matches = await verifyPassword(attempt.password, found?.passwordHash);
    if (!matches) reasons['email'] = found === undefined ? 'unknown address' : 'wrong password';
    return matches ? found?.user : undefined;
  }

  /** Basic requests repeat the same password; a directory is not asked every time. */
  async #recently(attempt: PasswordAttempt): Promise<User | undefined> {
    const recent = attempt.allowEmail ? undefined : this.#recent.get(this.#cacheName(attempt));
    return recent === undefined ? undefined : this.#options.callers.user(recent.username);
  }

  #cacheName({ username, password }: PasswordAttempt): string {
    return createHmac('sha256', this.#cacheKey).update(`${username}\0${password}`).digest('base64');
  }
}

function request({ requestId }: PasswordAttempt): object {
  return requestId === undefined ? {} : { request_id: requestId };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
