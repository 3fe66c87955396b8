import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';
import type { BlockLogger } from '../config.ts';
import { BlockError, type BlockErrorKind } from '../errors.ts';
import {
  backOffMs,
  connectionFailure,
  headerOf,
  refusalText,
  sendPaced,
  type StoreResponse,
} from './connection.ts';
import { piecesOf, type RequestBody } from './request-body.ts';

const connections = 256;

export interface StoreRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** What the request is about, for messages. */
  readonly target: string;
  readonly access: 'read' | 'write';
  readonly body?: RequestBody | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the store may think before it answers; default the time limit of the store. */
  readonly answerTimeoutMs?: number | undefined;
  /** Asked right before the request is sent, each time; when it says no, it is not. */
  readonly mayGoOn?: (() => boolean) | undefined;
  /** Not sent again, whatever happens: the caller finds out first what became of it. */
  readonly once?: boolean | undefined;
  /** Statuses that are no refusal; default those below 300. */
  readonly accepts?: (status: number) => boolean;
  /** Called for every attempt: what signs a request holds the time. */
  readonly prepare: () => PreparedRequest | Promise<PreparedRequest>;
}

export interface PreparedRequest {
  readonly origin: string;
  /** Encoded, with the query. */
  readonly path: string;
  /** Without `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the store said when it refused. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** What is particular to one kind of store. */
export interface StoreProtocol {
  readRefusal(status: number, text: string, header: (name: string) => string | undefined): Refusal;
  /** Undefined: by the status alone. */
  kindOf(refusal: Refusal, access: 'read' | 'write'): BlockErrorKind | undefined;
  /** Learns from a refusal that a differently signed request may pass; true when there was something to learn. */
  correct(refusal: Refusal, header: (name: string) => string | undefined): boolean;
}

export interface StoreHttpOptions {
  readonly logger: BlockLogger | undefined;
  /** Longest wait for an answer, and for the store to take the next piece of a body. */
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** Sends requests to an object store: retries what may be retried, turns refusals into `BlockError`s. */
export class StoreHttp {
  readonly #protocol: StoreProtocol;
  readonly #options: StoreHttpOptions;
  readonly #agent: Agent;

  constructor(protocol: StoreProtocol, options: StoreHttpOptions) {
    this.#protocol = protocol;
    this.#options = options;
    this.#agent = new Agent({
      connections,
      pipelining: 1,
      bodyTimeout: options.timeoutMs,
      connect: { timeout: 10_000 },
    });
  }

  /** Connections with a request on them. */
  get connectionsInUse(): number {
    return Object.values(this.#agent.stats).reduce((sum, { running }) => sum + running, 0);
  }

  /** A successful response; its body must be read or dumped. */
  async send(request: StoreRequest): Promise<StoreResponse> {
    const { target, access, body, signal, accepts = isSuccess } = request;
    const isSpent = body?.kind === 'stream' || request.once === true;
    let corrected = false;
    for (let attempt = 1; ; attempt++) {
      const mayRetry = attempt <= this.#options.maxRetries && !isSpent;
      let response: Dispatcher.ResponseData;
      try {
        response = await this.#attempt(request);
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        const failure = connectionFailure(error);
        if (failure === undefined) throw error;
        if (!mayRetry) {
          throw new BlockError('unavailable', `${target}: the store could not be reached: ${failure}`, {
            cause: error,
          });
        }
        await this.#backOff(attempt, target, failure, signal);
        continue;
      }
      const header = (name: string): string | undefined => headerOf(response, name);
      if (accepts(response.statusCode)) {
        return { status: response.statusCode, header, body: response.body, retries: attempt - 1 };
      }
      const refusal = this.#protocol.readRefusal(response.statusCode, await refusalText(response), header);
      if (!corrected && this.#protocol.correct(refusal, header)) {
        corrected = true;
        if (!isSpent) continue;
      }
      if (!mayRetry || !isRetryable(refusal.status)) throw this.refusalError(refusal, access, target);
      await this.#backOff(attempt, target, `${refusal.status} ${refusal.code}`, signal);
    }
  }

  refusalError(refusal: Refusal, access: 'read' | 'write', target: string): BlockError {
    const { status, code, message } = refusal;
    const told = [status, code].filter((word) => word !== '').join(' ');
    const kind = isRetryable(status) ? 'unavailable' : this.#protocol.kindOf(refusal, access);
    return new BlockError(
      kind ?? kindByStatus(status, access),
      `${target}: the store answered ${told}${message === '' ? '' : `: ${message}`}`,
    );
  }

  async #backOff(
    attempt: number,
    target: string,
    cause: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const wait = backOffMs(attempt);
    this.#options.logger?.debug(
      { target, attempt, cause, waitMs: Math.round(wait) },
      'retrying a request to the object store',
    );
    await delay(wait, undefined, signal === undefined ? {} : { signal });
  }

  async #attempt(request: StoreRequest): Promise<Dispatcher.ResponseData> {
    const { body, signal, method } = request;
    const { origin, path, headers } = await request.prepare();
    if (request.mayGoOn?.() === false)
      throw new BlockError('unavailable', `${request.target}: not begun: it was too late for it`);
    const send = (options: Partial<Dispatcher.RequestOptions>): Promise<Dispatcher.ResponseData> =>
      this.#agent.request({
        origin,
        path,
        method,
        headers: body === undefined ? headers : { ...headers, 'content-length': String(body.size) },
        headersTimeout: request.answerTimeoutMs ?? this.#options.timeoutMs,
        ...options,
      });
    const { timeoutMs } = this.#options;
    if (body?.kind === 'stream')
      return await sendPaced(piecesOf(body.stream, body.size), timeoutMs, send, signal);
    const [only] = body?.chunks ?? [];
    if (body !== undefined && body.chunks.length > 1)
      return await sendPaced(body.chunks, timeoutMs, send, signal);
    return await send({ body: only ?? null, ...(signal === undefined ? {} : { signal }) });
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function isSuccess(status: number): boolean {
  return status < 300;
}

/** Whether the same request may succeed when sent again. */
function isRetryable(status: number): boolean {
  return status >= 500 ? status !== 501 : status === 429 || status === 408;
}

function kindByStatus(status: number, access: 'read' | 'write'): BlockErrorKind {
  if (status === 404) return 'not_found';
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 412) return 'already_exists';
  if (status === 416) return 'bad_index';
  return access === 'write' ? 'write_failed' : 'configuration';
}
