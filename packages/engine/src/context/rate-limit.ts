import { setTimeout as delay } from 'node:timers/promises';

/** Spaces background calls evenly; 0 per second is no limit. */
export class RateLimit {
  readonly #intervalMs: number;
  #next = 0;

  constructor(perSecond: number) {
    this.#intervalMs = perSecond > 0 ? 1000 / perSecond : 0;
  }

  async take(): Promise<void> {
    if (this.#intervalMs === 0) return;
    const now = performance.now();
    const start = Math.max(now, this.#next);
    this.#next = start + this.#intervalMs;
    if (start > now) await delay(start - now, undefined, { ref: false });
  }
}
