import type { EventData, SubscriptionData } from '@svc/encoding';
import { timestampToMillis } from '@svc/encoding';
import { only, Outgoing, OutgoingError, publicAnd, type ResolvedAddress } from '@svc/outgoing';
import { EventsError } from '../errors.ts';
import { messagesOf, type Message } from './messages.ts';
import { UnreadableChanges, type ChangesBetween } from './s3-records.ts';
import { signatureHeaders } from './signature.ts';

const timeoutMs = 10_000;
const maxAnswerBytes = 64 * 1024;
const keptBytes = 1024;
const maxRetryAfterMs = 3_600_000;
const refusedPorts = new Set(['22', '25']);

/** Keeps secrets in the store. */
export interface SecretBoxes {
  seal(secret: string, boundTo: string): Buffer;
  open(box: Uint8Array, boundTo: string): string | undefined;
}

export interface WebhookOptions {
  readonly allowedNetworks: readonly string[];
  readonly secrets: SecretBoxes;
  readonly installationId: string;
  readonly changesBetween: ChangesBetween;
  readonly clock?: (() => number) | undefined;
  /** Every address of a name; the system's resolver when absent. */
  readonly resolve?: ((name: string) => Promise<readonly ResolvedAddress[]>) | undefined;
}

/** What came of one attempt. */
export interface Attempt {
  readonly isDone: boolean;
  /** 0: there was no answer. */
  readonly status: number;
  readonly error: string;
  readonly response: Buffer;
  readonly durationMs: number;
  /** The receiver asks for so much time. */
  readonly retryAfterMs?: number | undefined;
}

/** Sends events to the addresses of subscriptions, and to no address the operator has not allowed. */
export class Webhooks {
  readonly #options: WebhookOptions;
  readonly #clock: () => number;
  readonly #plain: Outgoing;
  readonly #tls: Outgoing;

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    const { allowedNetworks: networks, resolve } = options;
    const setting = 'events.webhooks.allowed_networks';
    // What is not encrypted must not leave the networks that the operator names.
    this.#plain = new Outgoing({ rule: only({ setting, networks }), resolve });
    this.#tls = new Outgoing({ rule: publicAnd({ setting, networks }), resolve });
  }

  /** Throws unless the address may be called. */
  async check(text: string): Promise<void> {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const refuse = (reason: string): EventsError => new EventsError('invalid', `url: ${reason}`);
    if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      throw refuse('expected an address that begins with https://');
    }
    if (url.username !== '' || url.password !== '')
      throw refuse('a user or password is not allowed: use headers');
    if (text.includes('#')) throw refuse('a fragment is never sent: leave it out');
    if (refusedPorts.has(url.port)) throw refuse(`port ${url.port} is not allowed`);
    try {
      await this.#clientOf(text).check(text);
    } catch (error) {
      if (error instanceof OutgoingError) throw refuse(error.message);
      throw error;
    }
  }

  /** Some formats need several requests for an event. The first that fails ends it: all of them come again. */
  async send(subscription: SubscriptionData, event: EventData, sequence: number): Promise<Attempt> {
    let last: Attempt = { isDone: true, status: 0, error: '', response: Buffer.alloc(0), durationMs: 0 };
    try {
      for await (const message of messagesOf(subscription, event, sequence, this.#options)) {
        const attempt = await this.#sendOne(subscription, message);
        last = { ...attempt, durationMs: last.durationMs + attempt.durationMs };
        if (!last.isDone) break;
      }
    } catch (error) {
      if (!(error instanceof UnreadableChanges)) throw error;
      return { ...last, isDone: false, status: 0, error: error.message };
    }
    return last;
  }

  async #sendOne(subscription: SubscriptionData, { id, contentType, body }: Message): Promise<Attempt> {
    const started = performance.now();
    const result = (attempt: Omit<Attempt, 'durationMs'>): Attempt => ({
      ...attempt,
      durationMs: Math.round(performance.now() - started),
    });
    const none = Buffer.alloc(0);
    try {
      const answer = await this.#clientOf(subscription.url).send({
        url: subscription.url,
        method: 'POST',
        headers: {
          ...this.headersOf(subscription),
          'content-type': contentType,
          'user-agent': 'svc-webhook',
          ...signatureHeaders(this.#secretsOf(subscription), { id, nowMs: this.#clock(), body }),
        },
        body,
        timeoutMs,
        maxAnswerBytes,
        keepBytes: keptBytes,
        maxRedirects: 0,
      });
      const { status } = answer;
      const isDone = status >= 200 && status < 300;
      const retryAfterMs = retryAfterOf(answer.headers['retry-after']);
      const error = isDone ? '' : `the receiver answered ${status}`;
      return result({ isDone, status, error, response: answer.body, retryAfterMs });
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error;
      return result({ isDone: false, status: 0, error: error.message, response: none });
    }
  }

  /** The headers that a subscription sends along. */
  headersOf({ id, headers }: SubscriptionData): Record<string, string> {
    if (headers.length === 0) return {};
    return JSON.parse(this.#open(headers, `${id}/headers`)) as Record<string, string>;
  }

  #secretsOf({ id, secret, formerSecret, formerUntil }: SubscriptionData): string[] {
    const secrets = [this.#open(secret, `${id}/secret`)];
    const isStillGood = formerUntil !== undefined && timestampToMillis(formerUntil) > this.#clock();
    if (isStillGood && formerSecret.length > 0) secrets.push(this.#open(formerSecret, `${id}/secret`));
    return secrets;
  }

  #open(box: Buffer, boundTo: string): string {
    const text = this.#options.secrets.open(box, boundTo);
    if (text === undefined) throw new Error(`a secret of subscription ${boundTo} cannot be decrypted`);
    return text;
  }

  #clientOf(url: string): Outgoing {
    return url.toLowerCase().startsWith('https:') ? this.#tls : this.#plain;
  }
}

function retryAfterOf(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d{1,9}$/.test(header)) return undefined;
  return Math.min(Number(header) * 1000, maxRetryAfterMs);
}
