/** Longer calls count as this long: one stall must not look like a slow disk. */
const longestMs = 5;
/** When calls take this long on average, the disk is slow. */
const slowMs = 1;
const slowPeriodMs = 1000;

/**
 * Says whether file calls that the page cache usually answers may be made on the event loop. Once they have become
 * slow on average they go to the thread pool for a while.
 */
export class InlineCalls {
  #average = 0;
  #slowUntil = 0;

  /** The time to hand to `ended`, or undefined when calls must not be made inline now. */
  begin(): number | undefined {
    const now = performance.now();
    return now >= this.#slowUntil ? now : undefined;
  }

  ended(began: number): void {
    const now = performance.now();
    this.#average += (Math.min(now - began, longestMs) - this.#average) / 8;
    if (this.#average < slowMs) return;
    this.#average = 0;
    this.#slowUntil = now + slowPeriodMs;
  }
}
