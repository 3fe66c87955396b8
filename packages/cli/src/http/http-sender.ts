import { Agent as HttpAgent, request as requestPlain } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import type { Log } from '../log.ts';
import { mayRepeatError, mayRepeatStatus, waitBefore, type RetryPolicy } from './retry-policy.ts';

/** A body that can be read again for another try. */
export type Body = Uint8Array | { readonly length: number; readonly open: () => Readable };

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Body | undefined;
  /** Must not happen twice: not repeated once it was sent, unless the server turned it away. */
  readonly once?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** In place of the sender's own. */
  readonly policy?: RetryPolicy | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Must be read to its end or destroyed. */
  readonly stream: IncomingMessage;
}

interface Failure {
  readonly error: unknown;
  /** The whole request had left when the connection broke. */
  readonly sent: boolean;
}

/** Sends requests over connections that stay open, and repeats what may be repeated. */
export class HttpSender {
  readonly #policy: RetryPolicy;
  readonly #log: Log;
  readonly #plain = new HttpAgent({ keepAlive: true, maxFreeSockets: 512 });
  readonly #tls = new HttpsAgent({ keepAlive: true, maxFreeSockets: 512 });

  constructor(policy: RetryPolicy, log: Log) {
    this.#policy = policy;
    this.#log = log;
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    const policy = request.policy ?? this.#policy;
    const url = urlOf(request.url);
    const once = request.once === true;
    for (let attempt = 1; ; attempt += 1) {
      const last = attempt >= policy.attempts;
      const answer = await this.#try(url, request);
      let retryAfter: string | undefined;
      if ('error' in answer) {
        const { error, sent } = answer;
        this.#log.warn('request failed', { method: request.method, url: shown(url), attempt });
        if (request.signal?.aborted === true) throw request.signal.reason;
        if (last || !mayRepeatError(error) || (once && sent))
          throw transportError(url, request, attempt, error);
      } else {
        if (last || !mayRepeatStatus(answer.status, once)) return answer;
        answer.stream.resume();
        if (answer.status !== 500) retryAfter = answer.headers['retry-after'];
      }
      await pause(waitBefore(policy, attempt, retryAfter), undefined, { signal: request.signal });
    }
  }

  #try(url: URL, request: HttpRequest): Promise<HttpResponse | Failure> {
    const started = performance.now();
    const { body } = request;
    const headers: Record<string, string> = { ...request.headers };
    if (body !== undefined) headers['content-length'] = String(body.length);
    else if (request.method !== 'GET' && request.method !== 'HEAD') headers['content-length'] = '0';
    const secure = url.protocol === 'https:';
    return new Promise((resolve) => {
      let sent = false;
      const open = secure ? requestTls : requestPlain;
      // A connection the server is about to close would leave it unknown whether a commit happened.
      const agent = request.once === true ? false : secure ? this.#tls : this.#plain;
      const outgoing = open(url, { method: request.method, headers, agent, signal: request.signal });
      const fail = (error: unknown): void => {
        resolve({ error, sent });
      };
      outgoing.on('finish', () => {
        sent = true;
      });
      outgoing.on('error', fail);
      outgoing.on('response', (stream) => {
        const status = stream.statusCode ?? 0;
        this.#log.debug('request', {
          method: request.method,
          url: shown(url),
          status,
          ms: Math.round(performance.now() - started),
        });
        // An answer before the end of the body is a refusal: what is left of it need not be sent.
        if (!outgoing.writableFinished) stream.once('end', () => outgoing.destroy());
        resolve({ status, headers: stream.headers, stream });
      });
      if (body === undefined || body instanceof Uint8Array) {
        outgoing.end(body);
        return;
      }
      const source = body.open();
      source.on('error', (error) => {
        fail(error);
        outgoing.destroy();
      });
      outgoing.on('close', () => source.destroy());
      source.pipe(outgoing);
    });
  }
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CliError(`"${text}" is not an http or https URL`);
  }
  return url;
}

/** Without the query: a pre-signed URL's query is a secret. */
function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function transportError(url: URL, request: HttpRequest, attempts: number, error: unknown): CliError {
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return new CliError(`${request.method} ${shown(url)} gave up after ${tries}: ${reasonOf(error)}`, {
    cause: error,
  });
}

function reasonOf(error: unknown): string {
  // A name with several addresses fails once per address.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

export async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
