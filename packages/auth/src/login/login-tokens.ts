import { randomUUID } from 'node:crypto';
import type { Session } from '../auth.ts';
import { signJwt, verifyJwt } from '../crypto/jwt.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { User } from '../model.ts';

export interface LoginClaims {
  readonly username: string;
  readonly issuedAt: number;
  /** The key the login was made with; deleting it ends the session. */
  readonly accessKeyId: string | undefined;
  /** Names the session. */
  readonly sessionId: string | undefined;
  /** Unix seconds. */
  readonly expiresAt: number;
  /** What the user is called in this session. */
  readonly friendlyName: string | undefined;
}

/** Issues and reads the tokens of a session. Whether the user still exists is for the caller to ask. */
export class LoginTokens {
  readonly #key: Buffer;
  readonly #clock: () => number;
  readonly #maxDurationMs: number;

  constructor(keys: KeyRing, clock: () => number, maxDurationMs: number) {
    this.#key = keys.keyFor('svc/jwt-login');
    this.#clock = clock;
    this.#maxDurationMs = maxDurationMs;
  }

  issue(user: User, durationMs: number, accessKeyId?: string, friendlyName?: string): Session {
    const now = Math.floor(this.#clock() / 1000);
    // A session begun in the very second of a password change is a new one.
    const issuedAt = Math.max(now, user.tokensValidAfter ?? 0);
    const expiresAt = now + Math.floor(Math.min(durationMs, this.#maxDurationMs) / 1000);
    const id = randomUUID();
    const claims = {
      iss: 'auth',
      aud: 'login',
      sub: user.username,
      jti: id,
      iat: issuedAt,
      exp: expiresAt,
      ...(accessKeyId === undefined ? {} : { akid: accessKeyId }),
      ...(friendlyName === undefined ? {} : { name: friendlyName }),
    };
    return { token: signJwt(claims, this.#key), expiresAt, username: user.username, id };
  }

  verify(token: string): LoginClaims | undefined {
    const claims = verifyJwt(token, this.#key);
    if (claims === undefined) return undefined;
    const { sub, iat, exp, aud, akid, jti, name } = claims;
    if (typeof exp !== 'number' || exp * 1000 <= this.#clock()) return undefined;
    if (aud !== undefined && aud !== 'login') return undefined;
    if (typeof sub !== 'string' || sub === '') return undefined;
    if (akid !== undefined && typeof akid !== 'string') return undefined;
    return {
      username: sub,
      issuedAt: typeof iat === 'number' ? iat : 0,
      accessKeyId: akid,
      sessionId: typeof jti === 'string' && jti !== '' ? jti : undefined,
      expiresAt: exp,
      friendlyName: typeof name === 'string' ? name : undefined,
    };
  }
}
