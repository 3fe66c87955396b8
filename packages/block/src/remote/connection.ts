import type { Dispatcher } from 'undici';
import { BlockError } from '../errors.ts';

/** A successful answer; its body must be read or dumped. */
export interface StoreResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: Dispatcher.ResponseData['body'];
  /** How many times the request had been sent before. */
  readonly retries: number;
}

export function headerOf(response: Dispatcher.ResponseData, name: string): string | undefined {
  const value = response.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const connectionCodes =
  /^(UND_ERR_(SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT|CLOSED|DESTROYED)|ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|HPE_.*|EPROTO|ERR_SSL.*|ERR_TLS.*|CERT_.*|DEPTH_ZERO.*|SELF_SIGNED.*|UNABLE_TO.*|HOSTNAME_MISMATCH)$/;

/** What went wrong on the way, or undefined when the error is not about the connection. */
export function connectionFailure(error: unknown): string | undefined {
  if (error instanceof BlockError) return undefined;
  const { code, errors, message } = (error ?? {}) as { code?: unknown; errors?: unknown[]; message?: string };
  if (typeof code === 'string' && connectionCodes.test(code))
    return `${code}${message === undefined ? '' : ` (${message})`}`;
  // Several addresses of one host failed, each in its own way.
  if (Array.isArray(errors) && errors.length > 0) return connectionFailure(errors[0]);
  return undefined;
}

const backOffBaseMs = 100;
const backOffCapMs = 20_000;

/** How long to wait before the next attempt: at random, so that clients of an overloaded store spread out. */
export function backOffMs(attempt: number): number {
  return Math.random() * Math.min(backOffCapMs, backOffBaseMs * 2 ** attempt);
}

const errorBodyLimit = 64 * 1024;

/** The text of a refusal, as far as it can be had. */
export async function refusalText(response: Dispatcher.ResponseData): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.body) {
      text += String(chunk);
      if (text.length > errorBodyLimit) break;
    }
  } catch {
    // The status says enough.
  }
  return text;
}

/**
 * Sends a body of chunks with a time limit on each chunk and on the answer, but none on how long the source
 * takes to produce the next.
 */
export async function sendPaced(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  timeoutMs: number,
  send: (options: Partial<Dispatcher.RequestOptions>) => Promise<Dispatcher.ResponseData>,
  signal: AbortSignal | undefined,
): Promise<Dispatcher.ResponseData> {
  const stalled = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sourceFailure: { readonly error: unknown } | undefined;
  const startTimer = (): void => {
    timer = setTimeout(() => {
      stalled.abort(new BlockError('unavailable', `the store took no data for ${timeoutMs} ms`));
    }, timeoutMs);
  };
  async function* paced(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        startTimer();
        yield chunk;
        clearTimeout(timer);
      }
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
    startTimer();
  }
  try {
    return await send({
      body: paced() as unknown as Exclude<Dispatcher.RequestOptions['body'], undefined>,
      headersTimeout: 0,
      signal: signal === undefined ? stalled.signal : AbortSignal.any([signal, stalled.signal]),
    });
  } catch (error) {
    throw sourceFailure === undefined ? error : sourceFailure.error;
  } finally {
    clearTimeout(timer);
  }
}
