import { createHash } from 'node:crypto';
import { SigningKeyCache, signRequest } from '@svc/encoding';
import { Agent, type Dispatcher } from 'undici';
import { KvError } from '../../errors.ts';
import { Attempts } from '../../remote/back-off.ts';
import { connectionFailure } from '../../remote/connection-failure.ts';
import type { KvObserver } from '../../store.ts';
import type { RenewingCredentials } from './credentials.ts';
import { classOf, refusalError, type CancellationReason, type Refusal } from './refusals.ts';

const connectTimeoutMs = 5000;
const answerTimeoutMs = 10_000;
/** Clocks that differ less do not make a signature invalid. */
const skewMs = 60_000;

export interface ClientOptions {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly maxAttempts: number;
  /** 0: as many as there are calls. */
  readonly maxConnections: number;
  readonly observer: KvObserver;
}

export interface Reply<Output> {
  readonly output: Output;
  /** Set instead of `output` when the service answered with "no". */
  readonly refusal: Refusal | undefined;
  /** True when an attempt before this answer may have taken effect as well. */
  readonly uncertain: boolean;
}

interface Answer {
  readonly status: number;
  readonly date: string;
  readonly body: string;
}

/** Sends signed calls and repeats what may be repeated. */
export class DynamoClient {
  readonly place: string;
  readonly #origin: string;
  readonly #path: string;
  readonly #host: string;
  readonly #options: ClientOptions;
  readonly #credentials: RenewingCredentials;
  readonly #agent: Agent;
  readonly #keys = new SigningKeyCache();
  /** How far the clock of the service is ahead of ours, learnt when it complains. */
  #clockOffsetMs = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ClientOptions, credentials: RenewingCredentials) {
    const { region } = options;
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    const url = URL.parse(options.endpoint ?? `https://dynamodb.${region}.${domain}`);
    if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new KvError(
        'driver_configuration',
        `database.dynamodb.endpoint "${options.endpoint}" is not an http:// or https:// URL`,
      );
    }
    this.place = url.origin;
    this.#origin = url.origin;
    this.#host = url.host;
    this.#path = url.pathname;
    this.#options = options;
    this.#credentials = credentials;
    this.#agent = new Agent({
      connections: options.maxConnections === 0 ? null : options.maxConnections,
      pipelining: 1,
      headersTimeout: answerTimeoutMs,
      bodyTimeout: answerTimeoutMs,
      connect: { timeout: connectTimeoutMs },
    });
  }

  get connectionsInUse(): number {
    return Object.values(this.#agent.stats).reduce((sum, { running }) => sum + running, 0);
  }

  /** One call of the service; every refusal that is not an answer is thrown. */
  async call<Output extends object>(action: string, input: object): Promise<Reply<Output>> {
    // Made now: the caller's buffers may change as soon as this has returned.
    const body = JSON.stringify(input);
    const hash = createHash('sha256').update(body).digest('hex');
    const attempts = new Attempts(this.#options.maxAttempts);
    let uncertain = false;
    let corrected = false;
    for (;;) {
      if (this.#closing !== undefined) throw closedError();
      let problem: KvError;
      let answer: Answer | undefined;
      try {
        answer = await this.#send(action, body, hash);
      } catch (error) {
        const failure = connectionFailure(error);
        if (failure === undefined) throw this.#closing === undefined ? error : closedError();
        uncertain ||= failure.sent;
        problem = new KvError(
          'unavailable',
          `dynamodb: ${this.place} could not be reached: ${failure.reason}`,
          {
            cause: error,
          },
        );
        if (!(await attempts.again())) throw problem;
        continue;
      }
      if (answer.status === 200) {
        const output = JSON.parse(answer.body) as Output;
        this.#count(action, output);
        return { output, refusal: undefined, uncertain };
      }
      const refusal = readRefusal(answer);
      const kind = classOf(refusal);
      if (kind === 'answer') return { output: {} as Output, refusal, uncertain };
      if (kind === 'throttled') this.#options.observer.slowDown?.(action);
      if (kind === 'server') uncertain = true;
      problem = refusalError(refusal);
      if (kind === 'credentials' && !corrected && this.#correct(refusal, answer)) {
        corrected = true;
        continue;
      }
      if (kind === 'credentials' || kind === 'other' || !(await attempts.again())) throw problem;
    }
  }

  /** Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#agent.destroy();
    return this.#closing;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  async #send(action: string, body: string, payloadHash: string): Promise<Answer> {
    const { region } = this.#options;
    const { headers } = signRequest(
      {
        method: 'POST',
        path: this.#path,
        query: '',
        headers: {
          host: this.#host,
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${action}`,
        },
        payloadHash,
      },
      {
        credentials: await this.#credentials.get(),
        region,
        service: 'dynamodb',
        now: new Date(Date.now() + this.#clockOffsetMs),
        keys: this.#keys,
      },
    );
    const request: Dispatcher.RequestOptions = { path: this.#path, method: 'POST', headers, body };
    const response = await this.#agent.request({ origin: this.#origin, ...request });
    const { date } = response.headers;
    return {
      status: response.statusCode,
      date: typeof date === 'string' ? date : '',
      body: await response.body.text(),
    };
  }

  /** Learns from a refusal that a differently signed request may pass; true when there was something to learn. */
  #correct(refusal: Refusal, answer: Answer): boolean {
    if (refusal.type.startsWith('ExpiredToken')) {
      this.#credentials.forget();
      return true;
    }
    const offset = Date.parse(answer.date) - Date.now();
    if (Number.isNaN(offset) || Math.abs(offset - this.#clockOffsetMs) < skewMs) return false;
    this.#clockOffsetMs = offset;
    return true;
  }

  #count(action: string, output: object): void {
    const { consumedCapacity } = this.#options.observer;
    if (consumedCapacity === undefined) return;
    const { ConsumedCapacity } = output as { ConsumedCapacity?: Capacity | readonly Capacity[] };
    if (ConsumedCapacity === undefined) return;
    const all: readonly Capacity[] = Array.isArray(ConsumedCapacity) ? ConsumedCapacity : [ConsumedCapacity];
    let units = 0;
    for (const { CapacityUnits = 0 } of all) units += CapacityUnits;
    consumedCapacity(action, units);
  }
}

interface Capacity {
  readonly CapacityUnits?: number;
}

export function closedError(): KvError {
  return new KvError('closed', 'the dynamodb key-value store is closed');
}

function readRefusal({ status, body }: Answer): Refusal {
  let parsed: { __type?: string; message?: string; Message?: string; CancellationReasons?: unknown } = {};
  try {
    parsed = JSON.parse(body) as typeof parsed;
  } catch {
    // Something in between answered; the status says enough.
  }
  const { CancellationReasons: reasons } = parsed;
  return {
    status,
    type: (parsed.__type ?? '').replace(/^.*#/, ''),
    message: parsed.message ?? parsed.Message ?? '',
    reasons: Array.isArray(reasons) ? (reasons as CancellationReason[]) : [],
  };
}
