import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AuthLogger } from '../auth.ts';
import { verifyJwt } from '../crypto/jwt.ts';
import type { User } from '../model.ts';
import type { ClaimMapping, Claims } from '../sources/contract.ts';
import type { CallerCache } from './caller-cache.ts';
import type { ClaimedUsers } from './claimed-users.ts';

export interface ExternalSessionOptions {
  /** Shared with the service that sets the cookie. */
  readonly secret: string;
  readonly claims: ClaimMapping;
  readonly users: ClaimedUsers;
  readonly callers: CallerCache;
  readonly clock: () => number;
  readonly logger: AuthLogger;
}

interface Remembered {
  readonly username: string;
  readonly friendlyName: string | undefined;
}

/** Sessions that another service has begun: it signs who somebody is with the secret both share. */
export class ExternalSession {
  readonly #options: ExternalSessionOptions;
  readonly #key: Buffer;
  readonly #known = new LRUCache<string, Remembered>({ max: 1024 });

  constructor(options: ExternalSessionOptions) {
    this.#options = options;
    this.#key = Buffer.from(options.secret);
  }

  /** Undefined refuses the session. */
  async userOf(token: string): Promise<User | undefined> {
    const { callers, clock, users, claims: mapping, logger } = this.#options;
    const session = verifyJwt(token, this.#key);
    if (session === undefined || session['aud'] !== 'external_session') return undefined;
    const { exp, iat, claims } = session;
    if (typeof exp !== 'number' || exp * 1000 <= clock() || !isClaims(claims)) return undefined;
    const digest = hash('sha256', token, 'base64');
    const known = this.#known.get(digest);
    const user = known === undefined ? undefined : await callers.user(known.username);
    if (known !== undefined && user?.source === mapping.source) {
      return endedSince(user, iat) ? undefined : named(user, known.friendlyName);
    }
    const claimed = await users.userOf(claims, mapping);
    if (typeof claimed === 'string') {
      logger.info(
        { event: 'login failed', reason: claimed, authenticator: mapping.source },
        'authentication failed',
      );
      return undefined;
    }
    const { username } = claimed.user;
    this.#known.set(digest, { username, friendlyName: claimed.friendlyName });
    return endedSince(claimed.user, iat) ? undefined : named(claimed.user, claimed.friendlyName);
  }
}

function isClaims(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The user has logged out everywhere after this session began. */
function endedSince(user: User, issuedAt: unknown): boolean {
  return (typeof issuedAt === 'number' ? issuedAt : 0) < (user.tokensValidAfter ?? 0);
}

function named(user: User, friendlyName: string | undefined): User {
  return friendlyName === undefined ? user : { ...user, friendlyName };
}
