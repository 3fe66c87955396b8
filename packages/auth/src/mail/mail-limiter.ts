import { randomUUID } from 'node:crypto';
import type { CacheBus } from '@svc/kv';

const topic = 'auth.mail';

export interface MailLimits {
  /** One more mail may be sent after each such time; 0 sets no limit. */
  readonly everyMs: number;
  /** Mails that may be sent at once; 0 sends none. */
  readonly burst: number;
}

/** One bucket of mails for all workers of a server: each tells the others what it has sent. */
export class MailLimiter {
  readonly #limits: MailLimits;
  readonly #bus: CacheBus;
  readonly #clock: () => number;
  readonly #self = randomUUID();
  readonly #unsubscribe: () => void;
  #left: number;
  #countedAt: number;

  constructor(limits: MailLimits, bus: CacheBus, clock: () => number) {
    this.#limits = limits;
    this.#bus = bus;
    this.#clock = clock;
    this.#left = limits.burst;
    this.#countedAt = clock();
    this.#unsubscribe = bus.subscribe(topic, (sender) => {
      if (sender !== this.#self) this.#take();
    });
  }

  /** False when no mail may be sent now. */
  async take(): Promise<boolean> {
    if (!this.#take()) return false;
    await this.#bus.publish(topic, this.#self);
    return true;
  }

  close(): void {
    this.#unsubscribe();
  }

  #take(): boolean {
    const { everyMs, burst } = this.#limits;
    if (burst === 0) return false;
    if (everyMs === 0) return true;
    const earned = Math.floor((this.#clock() - this.#countedAt) / everyMs);
    this.#left = Math.min(burst, this.#left + earned);
    this.#countedAt += earned * everyMs;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
