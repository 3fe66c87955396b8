import { randomUUID } from 'node:crypto';
import type { CacheBus } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import { AuthError } from '../errors.ts';

const windowMs = 60_000;
const topic = 'auth.failures';

/** What is counted, and how many failures a minute are too many. Successes are never counted. */
const limits = {
  address: 100,
  guess: 1,
  login: 10,
  setup: 10,
  forgotPassword: 5,
  cliLogin: 30,
  cliCode: 10,
} as const;
export type FailureKind = keyof typeof limits;

/**
 * Sliding one-minute windows of failures. Workers of a server tell each other of every failure, so that the
 * limit is the server's and not each worker's.
 */
export class FailureLimits {
  readonly #clock: () => number;
  readonly #bus: CacheBus;
  readonly #self = randomUUID();
  // Grows with what is in it: told the number of entries, the cache would make room for all of them at the start.
  readonly #failures = new LRUCache<string, number[]>({ maxSize: 20_000, sizeCalculation: () => 1 });
  readonly #unsubscribe: () => void;

  constructor(bus: CacheBus, clock: () => number) {
    this.#clock = clock;
    this.#bus = bus;
    this.#unsubscribe = bus.subscribe(topic, (message) => {
      const [sender = '', verb, ...rest] = message.split('\0');
      if (sender === this.#self) return;
      if (verb === 'reset') this.#failures.delete(rest.join('\0'));
      else this.#add(rest.join('\0'));
    });
  }

  /** Seconds to wait when the limit is reached. */
  exceeded(kind: FailureKind, subject: string): number | undefined {
    const key = `${kind}\0${subject}`;
    const recent = this.#recent(key);
    const limit = limits[kind];
    if (recent.length < limit) return undefined;
    const oldest = recent[recent.length - limit] ?? 0;
    return Math.max(1, Math.ceil((oldest + windowMs - this.#clock()) / 1000));
  }

  /** Throws `too_many_failures` when the limit is reached. */
  require(kind: FailureKind, subject: string): void {
    const wait = this.exceeded(kind, subject);
    if (wait !== undefined) throw tooManyFailures(wait);
  }

  /**
   * Seconds to wait when an address has failed too often to try this name again. Names it has not failed with are still
   * tried: many clients may share the address of a proxy, and one that is misconfigured must not stop the others.
   */
  exceededGuess(address: string, name: string): number | undefined {
    const wait = this.exceeded('address', address);
    if (wait === undefined) return undefined;
    return this.exceeded('guess', guessOf(address, name)) === undefined ? undefined : wait;
  }

  guessFailed(address: string, name: string): void {
    void this.failed('address', address);
    void this.failed('guess', guessOf(address, name));
  }

  /** Counts a failure; resolves once every worker has. */
  failed(kind: FailureKind, subject: string): Promise<void> {
    const key = `${kind}\0${subject}`;
    this.#add(key);
    return this.#tell(`failed\0${key}`);
  }

  succeeded(kind: FailureKind, subject: string): void {
    const key = `${kind}\0${subject}`;
    if (this.#failures.delete(key)) void this.#tell(`reset\0${key}`);
  }

  close(): void {
    this.#unsubscribe();
  }

  async #tell(message: string): Promise<void> {
    // A worker that was not told counts fewer failures. That must not fail the request.
    await this.#bus.publish(topic, `${this.#self}\0${message}`).catch(() => undefined);
  }

  #add(key: string): void {
    const recent = this.#recent(key);
    // Only the newest matter for any limit.
    if (recent.length >= limits.address) recent.shift();
    recent.push(this.#clock());
    this.#failures.set(key, recent);
  }

  #recent(key: string): number[] {
    const since = this.#clock() - windowMs;
    return (this.#failures.get(key) ?? []).filter((time) => time > since);
  }
}

function guessOf(address: string, name: string): string {
  return `${address}\0${shortened(name)}`;
}

/** Strangers choose the name, and it goes into memory and the log: keep it short. */
export function shortened(name: string): string {
  return name.length <= 256 ? name : `${name.slice(0, 256)}…`;
}

export function tooManyFailures(retryAfterSeconds: number): AuthError {
  return new AuthError('too_many_failures', 'too many failed attempts; try again later', {
    retryAfterSeconds,
  });
}
