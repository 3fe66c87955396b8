import type { SteadyTime } from '../lease-watch.ts';

/** So many a second, evenly; 0: as many as come. */
export class Pace {
  readonly #time: SteadyTime;
  readonly #gapMs: number;
  #next = 0;

  constructor(time: SteadyTime, perSecond: number) {
    this.#time = time;
    this.#gapMs = perSecond === 0 ? 0 : 1000 / perSecond;
  }

  /** Waits for its turn. */
  async next(): Promise<void> {
    if (this.#gapMs === 0) return;
    const now = this.#time.now();
    const turn = Math.max(now, this.#next);
    this.#next = turn + this.#gapMs;
    if (turn > now) await this.#time.rest(turn - now);
  }
}
