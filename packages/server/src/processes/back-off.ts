/** How long to wait before a process that died is started again: not at all once it had lived for a while. */
export class BackOff {
  #delayMs = 0;

  next(livedMs: number): number {
    if (livedMs > 10_000) {
      this.#delayMs = 0;
      return 0;
    }
    const delay = this.#delayMs;
    this.#delayMs = Math.min(5000, delay === 0 ? 100 : delay * 2);
    return delay;
  }
}
