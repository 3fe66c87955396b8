/** A refusal of the server. `message` is what the server said. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** The decoded body, when it was JSON. */
  readonly body: unknown;

  constructor(status: number, message: string, details: { requestId?: string | undefined; body?: unknown }) {
    super(message);
    this.status = status;
    this.requestId = details.requestId;
    this.body = details.body;
  }

  static async from(response: Response): Promise<ApiError> {
    const text = await response.text().catch(() => '');
    const body = parseJson(text);
    const said = (body as { message?: unknown } | undefined)?.message;
    const message =
      typeof said === 'string' && said !== '' ? said : `${response.status} ${response.statusText}`.trim();
    return new ApiError(response.status, message, {
      requestId: response.headers.get('x-request-id') ?? undefined,
      body,
    });
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
