import { setTimeout as delay } from 'node:timers/promises';

const baseMs = 50;
const capMs = 20_000;
/** Callers wait for an answer: beyond this no further attempt begins. */
const patienceMs = 45_000;

/**
 * The attempts of one call: full jitter, so that those who were refused together do not come back together. `again`
 * waits and answers whether another attempt may be made.
 */
export class Attempts {
  readonly #limit: number;
  readonly #deadline = Date.now() + patienceMs;
  #made = 1;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `atLeastMs` is how long the server asked to be left alone. */
  async again(atLeastMs = 0): Promise<boolean> {
    if (this.#made >= this.#limit) return false;
    const wait = atLeastMs + Math.random() * Math.min(capMs, baseMs * 2 ** this.#made);
    if (Date.now() + wait > this.#deadline) return false;
    this.#made++;
    await delay(wait);
    return true;
  }
}
