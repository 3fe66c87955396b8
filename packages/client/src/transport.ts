import { ApiError } from './api-error.ts';
import { defaultRetry, withRetries } from './retry.ts';
import type { RetrySettings } from './retry.ts';

export type Credentials =
  | { readonly accessKeyId: string; readonly secretAccessKey: string }
  | { readonly token: string };

export interface ClientOptions {
  /** Such as `http://localhost:8000`, with or without `/api/v1`. In a browser `''` is the page's own server. */
  readonly endpoint: string;
  /** Absent in a browser that has a session cookie. */
  readonly credentials?: Credentials | undefined;
  /** Names the program in the server's log. */
  readonly clientName?: string | undefined;
  readonly retry?: Partial<RetrySettings> | undefined;
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
}

/** Sends requests of the API: adds who asks, repeats what may be repeated, throws what was refused. */
export interface Transport {
  readonly baseUrl: string;
  /** `idempotent` allows repeating; refusals come back as responses. */
  send(request: Request, idempotent: boolean): Promise<Response>;
  /** As `send`; a refusal is thrown as `ApiError`. */
  call(request: Request, idempotent: boolean): Promise<Response>;
  /** Plain transfer to or from the object store: no credentials of ours. */
  transfer(request: Request): Promise<Response>;
}

export function createTransport(options: ClientOptions): Transport {
  const retry = { ...defaultRetry, ...options.retry };
  const fetch = options.fetch ?? ((request: Request) => globalThis.fetch(request));
  const authorization = options.credentials === undefined ? undefined : headerOf(options.credentials);

  async function send(request: Request, idempotent: boolean): Promise<Response> {
    if (authorization !== undefined) request.headers.set('authorization', authorization);
    if (options.clientName !== undefined) request.headers.set('x-lakefs-client', options.clientName);
    if (!idempotent || retry.attempts <= 1) return await fetch(request);
    return await withRetries(retry, () => fetch(request.clone()), request.signal);
  }

  return {
    baseUrl: baseUrlOf(options.endpoint),
    send,
    async call(request, idempotent) {
      const response = await send(request, idempotent);
      if (!response.ok && response.status !== 304) throw await ApiError.from(response);
      return response;
    },
    async transfer(request) {
      const response = await withRetries(retry, () => fetch(request.clone()), request.signal);
      if (!response.ok) {
        await response.body?.cancel();
        throw new ApiError(response.status, `the object store answered ${response.status}`, {});
      }
      return response;
    },
  };
}

function baseUrlOf(endpoint: string): string {
  const trimmed = endpoint.replace(/\/+$/, '');
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`;
}

function headerOf(credentials: Credentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token}`;
  const pair = new TextEncoder().encode(`${credentials.accessKeyId}:${credentials.secretAccessKey}`);
  return `Basic ${btoa(String.fromCodePoint(...pair))}`;
}
