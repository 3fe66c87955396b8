/** The names that clients turn into their own errors, with the status each has. */
const statuses = {
  BadRequestException: 400,
  NotAuthorizedException: 401,
  ForbiddenException: 403,
  NoSuchNamespaceException: 404,
  NoSuchTableException: 404,
  NotFoundException: 404,
  UnsupportedOperationException: 406,
  AlreadyExistsException: 409,
  CommitFailedException: 409,
  NamespaceNotEmptyException: 409,
  PayloadTooLargeException: 413,
  TooManyRequestsException: 429,
  InternalServerError: 500,
  CommitStateUnknownException: 500,
  ServiceUnavailableException: 503,
} as const;

export type IcebergErrorType = keyof typeof statuses;

/** A refusal in the terms of the protocol; the message is for the caller. */
export class IcebergError extends Error {
  override readonly name = 'IcebergError';
  readonly type: IcebergErrorType;
  /** The value of the `Retry-After` header. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    type: IcebergErrorType,
    message: string,
    options?: ErrorOptions & { readonly retryAfterSeconds?: number | undefined },
  ) {
    super(message, options);
    this.type = type;
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }

  get status(): number {
    return statuses[this.type];
  }
}

export function badRequest(message: string): IcebergError {
  return new IcebergError('BadRequestException', message);
}

export function commitFailed(message: string): IcebergError {
  return new IcebergError('CommitFailedException', message);
}
