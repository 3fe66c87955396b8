import { setImmediate } from 'node:timers/promises';

const checkEvery = 256;

/** Breaks long synchronous work into slices, so that the thread's other work waits no longer than one of them. */
export class Pace {
  readonly #slice: number;
  #countdown = checkEvery;
  #sliceEnd: number;

  /** `slice` in milliseconds. A request waits for one at each of its steps, and a pause costs some microseconds. */
  constructor(slice = 1) {
    this.#slice = slice;
    this.#sliceEnd = performance.now() + slice;
  }

  /** Call once per record, or with the number of records done; true when it is time to `pause()`. */
  due(records = 1): boolean {
    this.#countdown -= records;
    if (this.#countdown > 0) return false;
    this.#countdown = checkEvery;
    return performance.now() >= this.#sliceEnd;
  }

  async pause(): Promise<void> {
    await setImmediate();
    this.#sliceEnd = performance.now() + this.#slice;
  }
}
