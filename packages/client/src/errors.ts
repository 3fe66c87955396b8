/** A refusal of the server. `message` is what the server said. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The decoded body, when it was JSON. */
  readonly body: unknown;
  /** The permission that is lacking, where the server names it. */
  readonly required: { readonly action: string; readonly resource: string } | undefined;

  constructor(
    status: number,
    message: string,
    details: {
      requestId?: string | undefined;
      body?: unknown;
      required?: { readonly action: string; readonly resource: string } | undefined;
    },
  ) {
    super(message);
    this.status = status;
    this.requestId = details.requestId;
    this.body = details.body;
    this.required = details.required;
  }

  get isNotFound(): boolean {
    return this.status === 404;
  }

  get isConflict(): boolean {
    return this.status === 409;
  }

  /** The caller is unknown (`error authenticating request`) or lacks a permission. */
  get isUnauthorized(): boolean {
    return this.status === 401;
  }
}

/** A call that failed although the server did not refuse it: the message says what happened. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}

/** The connection failed before an answer came. */
export class ConnectionError extends ClientError {
  override readonly name = 'ConnectionError';
  /** False when the server cannot have received the whole request. */
  readonly sent: boolean;

  constructor(message: string, details: { readonly sent: boolean; readonly cause: unknown }) {
    super(message, { cause: details.cause });
    this.sent = details.sent;
  }
}
