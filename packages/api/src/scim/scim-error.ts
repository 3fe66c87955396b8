import { AuthError, type AuthErrorKind } from '@svc/auth';

/** What the protocol knows of why something was refused. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'uniqueness';

export class ScimError extends Error {
  override readonly name = 'ScimError';
  readonly status: number;
  readonly scimType: ScimType | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    message: string,
    options: ErrorOptions & { scimType?: ScimType | undefined; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message, options);
    this.status = status;
    this.scimType = options.scimType;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

export function invalid(scimType: ScimType, message: string): ScimError {
  return new ScimError(400, message, { scimType });
}

const statuses: Readonly<Record<AuthErrorKind, number>> = {
  invalid: 400,
  unauthenticated: 401,
  denied: 403,
  forbidden: 403,
  not_found: 404,
  no_acl: 404,
  already_exists: 409,
  already_initialized: 409,
  not_initialized: 412,
  too_many_failures: 429,
  unavailable: 500,
  not_implemented: 501,
  configuration: 500,
};

/** The one table from whatever went wrong to what the provider is told. */
export function toScimError(error: unknown): ScimError {
  if (error instanceof ScimError) return error;
  if (!(error instanceof AuthError)) return new ScimError(500, 'internal server error', { cause: error });
  const { kind, message, retryAfterSeconds } = error;
  const scimType = kind === 'already_exists' ? 'uniqueness' : kind === 'invalid' ? 'invalidValue' : undefined;
  const status = statuses[kind];
  return new ScimError(status, status === 500 ? 'internal server error' : message, {
    cause: error,
    scimType,
    retryAfterSeconds,
  });
}
