import type { RequiredPermission } from './identity.ts';

/**
 * Every way access control can refuse. The API turns them into: invalid 400, unauthenticated and denied 401,
 * forbidden 403, not_found and no_acl 404, already_exists and already_initialized 409, not_initialized 412,
 * too_many_failures 429, unavailable 500, not_implemented 501. `configuration` stops the start.
 */
export type AuthErrorKind =
  | 'invalid'
  | 'unauthenticated'
  | 'denied'
  | 'forbidden'
  | 'not_found'
  | 'no_acl'
  | 'already_exists'
  | 'already_initialized'
  | 'not_initialized'
  | 'too_many_failures'
  | 'unavailable'
  | 'not_implemented'
  | 'configuration';

export interface AuthErrorOptions extends ErrorOptions {
  readonly retryAfterSeconds?: number;
  readonly required?: RequiredPermission | undefined;
}

/** The one family of errors access control throws; the message is fit for the caller and holds no secret. */
export class AuthError extends Error {
  override readonly name = 'AuthError';
  readonly kind: AuthErrorKind;
  /** Set with `too_many_failures`: the value of the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;
  /** Set with `denied`: the permission that is lacking. */
  readonly required: RequiredPermission | undefined;

  constructor(kind: AuthErrorKind, message: string, options?: AuthErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.retryAfterSeconds = options?.retryAfterSeconds;
    this.required = options?.required;
  }
}

/** The one message of every failed authentication, so that nobody learns which half was wrong. */
export const authenticationFailedMessage = 'error authenticating request';

export function authenticationFailed(cause?: unknown): AuthError {
  return new AuthError('unauthenticated', authenticationFailedMessage, { cause });
}

/** A key that is bound to a bucket opens nothing else. */
export function boundToBucket(): AuthError {
  return new AuthError(
    'unauthenticated',
    'this access key is bound to a bucket; use it with the S3 endpoint',
  );
}
