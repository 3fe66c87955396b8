import { createHmac, hash } from 'node:crypto';
import type { TemporaryKey } from '../auth.ts';
import { signJwt, verifyJwt } from '../crypto/jwt.ts';
import type { KeyRing } from '../crypto/key-ring.ts';
import type { Identity, KeyView } from '../identity.ts';

/** Like no generated key, so that a stored one is not taken for it. */
const keyStart = 'SVCT';
const keyPattern = /^SVCT[0-9A-F]{16}$/;

export interface TemporaryClaims {
  readonly username: string;
  readonly issuedAt: number;
  /** The key its holder had proved to hold; deleting it ends this one. */
  readonly parentKeyId: string | undefined;
  readonly secretAccessKey: string;
  readonly view: KeyView;
}

/**
 * Access keys for a while, bound to a bucket. Nothing is stored: the session token says whose they are and what they
 * show, and the secret follows from the token. Whether the user still exists is for the caller to ask.
 */
export class TemporaryKeys {
  readonly #tokenKey: Buffer;
  readonly #secretKey: Buffer;
  readonly #clock: () => number;

  constructor(keys: KeyRing, clock: () => number) {
    this.#tokenKey = keys.keyFor('svc/temporary-token');
    this.#secretKey = keys.keyFor('svc/temporary-secret');
    this.#clock = clock;
  }

  issue({ user, accessKeyId }: Identity, view: KeyView, durationMs: number): TemporaryKey {
    const now = this.#clock();
    const expiresAt = Math.floor((now + durationMs) / 1000);
    const claims = {
      aud: 's3',
      sub: user.username,
      iat: Math.max(Math.floor(now / 1000), user.tokensValidAfter ?? 0),
      exp: expiresAt,
      ...(accessKeyId === undefined ? {} : { akid: accessKeyId }),
      view,
    };
    const sessionToken = signJwt(claims, this.#tokenKey);
    return {
      accessKeyId: keyIdOf(sessionToken),
      secretAccessKey: this.#secretOf(sessionToken),
      sessionToken,
      expiresAt,
    };
  }

  /** Undefined when the token is not ours, is over, or does not belong to the key. */
  verify(accessKeyId: string, sessionToken: string): TemporaryClaims | undefined {
    const claims = verifyJwt(sessionToken, this.#tokenKey);
    if (claims === undefined || accessKeyId !== keyIdOf(sessionToken)) return undefined;
    const { sub, iat, exp, akid, view } = claims;
    if (typeof exp !== 'number' || exp * 1000 <= this.#clock()) return undefined;
    if (typeof sub !== 'string' || typeof iat !== 'number') return undefined;
    return {
      username: sub,
      issuedAt: iat,
      parentKeyId: typeof akid === 'string' ? akid : undefined,
      secretAccessKey: this.#secretOf(sessionToken),
      // The signature says that we wrote it.
      view: view as KeyView,
    };
  }

  #secretOf(sessionToken: string): string {
    return createHmac('sha256', this.#secretKey).update(sessionToken).digest('base64').slice(0, 40);
  }
}

export function isTemporaryKeyId(accessKeyId: string): boolean {
  return keyPattern.test(accessKeyId);
}

function keyIdOf(sessionToken: string): string {
  return keyStart + hash('sha256', sessionToken, 'hex').slice(0, 16).toUpperCase();
}
