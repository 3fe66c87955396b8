import { LocalCacheBus } from '@svc/kv';
import type { CacheBus } from '@svc/kv';
import type { News, Question, Role, ToPrimary, ToWorker } from './messages.ts';

/** Asks and tells the other processes of this server. */
export interface Exchange {
  /** The answers of all other living processes; never rejects. */
  askOthers(question: Question, payload?: unknown): Promise<readonly unknown[]>;
  /** Does not wait for anyone to hear it. */
  tell(to: Role, news: News, payload?: unknown): void;
  /** What this process does about news. */
  hear(news: News, listener: (payload: unknown) => void): void;
  /** Leaves the metrics of this process with the primary, in case it dies. */
  rememberMetrics(snapshot: unknown): void;
  /** How this process answers when another one asks. */
  answer(question: Question, answer: (payload: unknown) => unknown): void;
}

/** The exchange of a server with a single process: there is nobody to ask. */
export class LonelyExchange implements Exchange {
  askOthers(): Promise<readonly unknown[]> {
    return Promise.resolve([]);
  }

  answer(): void {}

  tell(): void {}

  hear(): void {}

  rememberMetrics(): void {}
}

/** The worker's end of the primary's `ExchangeHub`. */
export class WorkerExchange implements Exchange {
  readonly #send: (message: ToPrimary) => void;
  readonly #pending = new Map<number, (values: readonly unknown[]) => void>();
  readonly #answers = new Map<Question, (payload: unknown) => unknown>();
  readonly #listeners = new Map<News, (payload: unknown) => void>();
  #id = 0;

  constructor(send: (message: ToPrimary) => void) {
    this.#send = send;
  }

  askOthers(question: Question, payload?: unknown): Promise<readonly unknown[]> {
    const id = ++this.#id;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#send({ type: 'ask', id, question, payload });
    });
  }

  answer(question: Question, answer: (payload: unknown) => unknown): void {
    this.#answers.set(question, answer);
  }

  tell(to: Role, news: News, payload?: unknown): void {
    this.#send({ type: 'tell', to, news, payload });
  }

  hear(news: News, listener: (payload: unknown) => void): void {
    this.#listeners.set(news, listener);
  }

  rememberMetrics(snapshot: unknown): void {
    this.#send({ type: 'metrics', snapshot });
  }

  receive(message: Extract<ToWorker, { type: 'asked' | 'answers' | 'told' }>): void {
    if (message.type === 'told') {
      this.#listeners.get(message.news)?.(message.payload);
      return;
    }
    if (message.type === 'answers') {
      const resolve = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      resolve?.(message.values);
      return;
    }
    const { seq, question } = message;
    const reply = (value?: unknown): void => this.#send({ type: 'answer', seq, value });
    const value = this.#answers.get(question)?.(message.payload);
    if (value instanceof Promise) value.then(reply, () => reply());
    else reply(value);
  }

  /** The primary is gone: nobody will answer any more. */
  abandon(): void {
    for (const resolve of this.#pending.values()) resolve([]);
    this.#pending.clear();
  }
}

/** Tells every process of this server what changed; resolves once all have dropped their copies. */
export class ExchangeCacheBus implements CacheBus {
  readonly #local = new LocalCacheBus();
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    exchange.answer('invalidate', (payload) => {
      const { topic, key } = payload as { topic: string; key: string };
      this.#local.deliver(topic, key);
    });
  }

  async publish(topic: string, key: string): Promise<void> {
    this.#local.deliver(topic, key);
    await this.#exchange.askOthers('invalidate', { topic, key });
  }

  subscribe(topic: string, listener: (key: string) => void): () => void {
    return this.#local.subscribe(topic, listener);
  }
}
