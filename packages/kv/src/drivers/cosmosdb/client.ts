import { createHmac } from 'node:crypto';
import { Agent } from 'undici';
import { KvError } from '../../errors.ts';
import { Attempts } from '../../remote/back-off.ts';
import { connectionFailure } from '../../remote/connection-failure.ts';
import type { KvObserver } from '../../store.ts';
import { CloudIdentity } from './identity.ts';
import { classOf, refusalError, type Refusal } from './refusals.ts';

const apiVersion = '2020-07-15';
const connectTimeoutMs = 5000;
const answerTimeoutMs = 10_000;
const maxAttempts = 10;
/** Clocks that differ less do not make a signature invalid. */
const skewMs = 60_000;

export interface CosmosRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `docs`, `colls`, `dbs`, or nothing for the account. */
  readonly resourceType: string;
  /** The resource that is signed for: the parent when something is created in it. */
  readonly link: string;
  /** Appended to the link in the address, not signed. */
  readonly feed?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Reply<Output> {
  readonly status: number;
  readonly output: Output;
  readonly etag: string;
  readonly continuation: string | undefined;
  readonly refusal: Refusal | undefined;
  /** True when an attempt before this answer may have taken effect as well. */
  readonly uncertain: boolean;
}

interface Answer {
  readonly status: number;
  readonly header: (name: string) => string;
  readonly body: string;
}

/** Sends signed requests and repeats what may be repeated. */
export class CosmosClient {
  readonly place: string;
  readonly #key: Buffer | undefined;
  readonly #identity: CloudIdentity;
  readonly #agent: Agent;
  readonly #observer: KvObserver;
  readonly #attempts: number;
  /** How far the clock of the service is ahead of ours, learnt when it complains. */
  #clockOffsetMs = 0;
  #closing: Promise<void> | undefined;

  constructor(endpoint: string, key: string | undefined, observer: KvObserver, attempts = maxAttempts) {
    const url = URL.parse(endpoint);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new KvError(
        'driver_configuration',
        `database.cosmosdb.endpoint "${endpoint}" is not an http:// or https:// URL`,
      );
    }
    this.place = url.origin;
    this.#key = key === undefined ? undefined : Buffer.from(key, 'base64');
    this.#identity = new CloudIdentity(url.origin);
    this.#observer = observer;
    this.#attempts = attempts;
    this.#agent = new Agent({
      connections: null,
      pipelining: 1,
      headersTimeout: answerTimeoutMs,
      bodyTimeout: answerTimeoutMs,
      connect: { timeout: connectTimeoutMs },
    });
  }

  get connectionsInUse(): number {
    return Object.values(this.#agent.stats).reduce((sum, { running }) => sum + running, 0);
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#agent.destroy();
    return this.#closing;
  }

  /** One request; every refusal that is not an answer is thrown. */
  async send<Output>(request: CosmosRequest): Promise<Reply<Output>> {
    // Made now: the caller's buffers may change as soon as this has returned.
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    const attempts = new Attempts(this.#attempts);
    let uncertain = false;
    let corrected = false;
    for (;;) {
      if (this.#closing !== undefined) throw closedError();
      let answer: Answer;
      try {
        answer = await this.#attempt(request, body);
      } catch (error) {
        const failure = connectionFailure(error);
        if (failure === undefined) throw this.#closing === undefined ? error : closedError();
        uncertain ||= failure.sent;
        if (await attempts.again()) continue;
        const reason = `cosmosdb: ${this.place} could not be reached: ${failure.reason}`;
        throw new KvError('unavailable', reason, { cause: error });
      }
      const { status, header } = answer;
      if (status < 300 || status === 304) {
        return {
          status,
          output: (answer.body === '' ? undefined : JSON.parse(answer.body)) as Output,
          etag: header('etag'),
          continuation: header('x-ms-continuation') || undefined,
          refusal: undefined,
          uncertain,
        };
      }
      const refusal = { status, substatus: header('x-ms-substatus'), message: messageOf(answer.body) };
      const kind = classOf(refusal);
      if (kind === 'answer') {
        return { status, output: undefined as Output, etag: '', continuation: undefined, refusal, uncertain };
      }
      if (kind === 'throttled') this.#observer.slowDown?.(request.method);
      if (kind === 'server') uncertain = true;
      if (kind === 'credentials' && !corrected && this.#correctClock(header('date'))) {
        corrected = true;
        continue;
      }
      const wait = Number(header('x-ms-retry-after-ms')) || 0;
      if (kind === 'credentials' || kind === 'other' || !(await attempts.again(wait))) {
        throw refusalError(refusal);
      }
    }
  }

  async #attempt(request: CosmosRequest, body: string | null): Promise<Answer> {
    const date = new Date(Date.now() + this.#clockOffsetMs).toUTCString();
    const path = `/${request.link.split('/').map(encodeURIComponent).join('/')}${request.feed ?? ''}`;
    const response = await this.#agent.request({
      origin: this.place,
      path,
      method: request.method,
      headers: {
        'content-type': 'application/json',
        ...request.headers,
        authorization: encodeURIComponent(await this.#authorization(request, date)),
        'x-ms-date': date,
        'x-ms-version': apiVersion,
      },
      body,
    });
    const { headers } = response;
    return {
      status: response.statusCode,
      header: (name) => String(headers[name] ?? ''),
      body: await response.body.text(),
    };
  }

  async #authorization(request: CosmosRequest, date: string): Promise<string> {
    if (this.#key === undefined) return `type=aad&ver=1.0&sig=${await this.#identity.token()}`;
    const text = `${request.method}\n${request.resourceType}\n`.toLowerCase();
    const signed = `${text}${request.link}\n${date.toLowerCase()}\n\n`;
    return `type=master&ver=1.0&sig=${createHmac('sha256', this.#key).update(signed).digest('base64')}`;
  }

  #correctClock(date: string): boolean {
    const offset = Date.parse(date) - Date.now();
    if (Number.isNaN(offset) || Math.abs(offset - this.#clockOffsetMs) < skewMs) return false;
    this.#clockOffsetMs = offset;
    return true;
  }
}

export function closedError(): KvError {
  return new KvError('closed', 'the cosmosdb key-value store is closed');
}

function messageOf(body: string): string {
  try {
    const { message } = JSON.parse(body) as { message?: string };
    return (message ?? '').split('\n')[0] ?? '';
  } catch {
    // Something in between answered; the status says enough.
    return '';
  }
}
