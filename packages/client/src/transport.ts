import { ConnectionError } from './errors.ts';
import { idempotentWrites } from './generated/idempotent-writes.ts';
import { defaultRetry, mayRepeatError, mayRepeatStatus, pause, waitAfter } from './retry.ts';
import type { RetrySettings } from './retry.ts';
import type { Answer, Sender, SendRequest } from './sender.ts';

export type Credentials =
  | { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** A function is asked before each call, so that it can renew the token. */
  | { readonly token: string | (() => Promise<string>) };

export interface ConnectionOptions {
  /**
   * Such as `http://localhost:8000`; `/api/v1` is added to an endpoint without a path. In a browser `''` is the
   * page's own server.
   */
  readonly endpoint: string;
  /** Absent in a browser that has a session cookie. */
  readonly credentials?: Credentials | undefined;
  /** Names the program in the server's log. */
  readonly clientName?: string | undefined;
  /** Sent with every call of the API. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly retry?: Partial<RetrySettings> | undefined;
}

/** A call of the API by its path in the contract, such as `/repositories/{repository}`. */
export interface ApiCall<Payload> {
  readonly method: string;
  readonly path: string;
  readonly params?: {
    readonly path?: Readonly<Record<string, unknown>> | undefined;
    readonly query?: Readonly<Record<string, unknown>> | undefined;
    readonly header?: Readonly<Record<string, unknown>> | undefined;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Payload | undefined;
  /** False for a body that cannot be read again, or when nobody would wait. */
  readonly repeat?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Negative when what was sent is sent again. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** A request to the object store, with a URL that the server signed. */
export type StoreRequest<Payload> = Pick<
  SendRequest<Payload>,
  'method' | 'url' | 'headers' | 'body' | 'signal' | 'onBytes'
>;

/** Reaches the API and the object store behind it, and repeats what may be repeated. Refusals are answers. */
export interface Transport<Payload, Stream> {
  /** Where the API is, such as `http://localhost:8000/api/v1`. */
  readonly apiUrl: string;
  readonly retry: RetrySettings;
  call(call: ApiCall<Payload>): Promise<Answer<Stream>>;
  /** Never takes our credentials along. */
  store(request: StoreRequest<Payload>): Promise<Answer<Stream>>;
}

export function createTransport<Payload, Stream>(
  options: ConnectionOptions,
  sender: Sender<Payload, Stream>,
): Transport<Payload, Stream> {
  const retry = { ...defaultRetry, ...options.retry };
  const apiUrl = apiUrlOf(options.endpoint);
  const authorize = authorizationOf(options.credentials);
  return {
    apiUrl,
    retry,
    async call(call) {
      const authorization = await authorize();
      const own: Record<string, string> = {};
      if (authorization !== undefined) own['authorization'] = authorization;
      if (options.clientName !== undefined) own['x-lakefs-client'] = options.clientName;
      const headers = { ...call.headers, ...headerParameters(call), ...options.headers, ...own };
      const { method, body, signal, onBytes } = call;
      const idempotent = isIdempotent(method, call.path, headers);
      const url = apiUrl + fillPath(call.path, call.params?.path ?? {}) + queryOf(call.params?.query ?? {});
      const settings = call.repeat === false ? { ...retry, attempts: 1 } : retry;
      return repeatedly(sender, settings, { method, url, headers, body, signal, onBytes, idempotent });
    },
    store: (request) => repeatedly(sender, retry, { ...request, idempotent: true }),
  };
}

/** A condition makes a write that may happen twice one that may not: the second is refused by what the first did. */
function isIdempotent(method: string, path: string, headers: Readonly<Record<string, string>>): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const isConditional = 'if-match' in headers || 'if-none-match' in headers;
  return !isConditional && idempotentWrites.has(`${method} ${path}`);
}

async function repeatedly<Payload, Stream>(
  sender: Sender<Payload, Stream>,
  settings: RetrySettings,
  request: Omit<SendRequest<Payload>, 'attempt'>,
): Promise<Answer<Stream>> {
  const { idempotent, signal, onBytes } = request;
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt >= settings.attempts;
    let counted = 0;
    const count = (bytes: number): void => {
      counted += bytes;
      onBytes?.(bytes);
    };
    let wait: number | undefined;
    try {
      const answer = await sender({ ...request, attempt, ...(onBytes !== undefined && { onBytes: count }) });
      if (isLast || !mayRepeatStatus(answer.status, idempotent)) return answer;
      wait = waitAfter(settings, attempt, answer.status === 500 ? undefined : answer.header('retry-after'));
      if (wait === undefined) return answer;
      answer.discard();
    } catch (error) {
      if (isLast || !mayRepeatError(error, idempotent)) throw givenUp(request, attempt, error);
      wait = waitAfter(settings, attempt, undefined) ?? 0;
    }
    onBytes?.(-counted);
    await pause(wait, signal);
  }
}

function givenUp(request: { method: string; url: string }, attempts: number, error: unknown): unknown {
  if (!(error instanceof ConnectionError)) return error;
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  // Without the query: that of a signed URL is a secret.
  const [address = ''] = request.url.split('?', 1);
  return new ConnectionError(`${request.method} ${address} gave up after ${tries}: ${error.message}`, {
    sent: error.sent,
    cause: error.cause,
  });
}

export function apiUrlOf(endpoint: string): string {
  const trimmed = endpoint.replace(/\/+$/, '');
  const hasPath = URL.canParse(trimmed) && new URL(trimmed).pathname !== '/';
  return hasPath ? trimmed : `${trimmed}/api/v1`;
}

function authorizationOf(credentials: Credentials | undefined): () => Promise<string | undefined> {
  if (credentials === undefined) return () => Promise.resolve(undefined);
  if ('token' in credentials) {
    const { token } = credentials;
    return async () => `Bearer ${typeof token === 'string' ? token : await token()}`;
  }
  const pair = new TextEncoder().encode(`${credentials.accessKeyId}:${credentials.secretAccessKey}`);
  const basic = `Basic ${btoa(String.fromCodePoint(...pair))}`;
  return () => Promise.resolve(basic);
}

function headerParameters({ params }: Pick<ApiCall<never>, 'params'>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(params?.header ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = textOf(value);
  }
  return headers;
}

function fillPath(template: string, values: Readonly<Record<string, unknown>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(textOf(values[name])),
  );
}

function queryOf(values: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const item of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (item !== undefined) query.append(name, textOf(item));
    }
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Parameters are strings, numbers and booleans. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
