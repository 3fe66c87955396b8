/** Asking a thread and hearing from it takes about this long. */
const quickMs = 0.15;
/** So many times a thread is asked before it is tried again whether that is still worth it. */
const timesInThread = 32;
/** How much the last time counts. */
const weight = 0.2;

/**
 * Does one kind of thing to files at once as long as that is quick, and else in threads, several side by side. A file of
 * a local disk is made faster than a thread is asked to do it. On a network file system, or where thousands of files
 * were deleted a moment ago, it takes many times as long, and the connections would wait for it.
 */
export class WhileQuick {
  readonly #now: () => number;
  #averageMs = 0;
  #leftInThread = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  do<T>(atOnce: () => T, inThread: () => Promise<T>): T | Promise<T> {
    if (this.#leftInThread > 0) {
      this.#leftInThread -= 1;
      return inThread();
    }
    const began = this.#now();
    try {
      return atOnce();
    } finally {
      this.#averageMs += weight * (this.#now() - began - this.#averageMs);
      if (this.#averageMs > quickMs) {
        this.#averageMs = 0;
        this.#leftInThread = timesInThread;
      }
    }
  }
}
