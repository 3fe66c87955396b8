import type { KvEntry, KvStore } from '@svc/kv';

/** Deterministic random numbers, so that a failing run can be repeated by its seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 0x1_0000_0000;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

/**
 * Makes every call to a store a point where another operation may run: calls wait in a pool and are let through
 * one at a time in random order, half of them before the store acts and half after it.
 */
export class Scheduler {
  readonly #random: Random;
  readonly #waiting: (() => void)[] = [];
  #pumping = false;

  constructor(random: Random) {
    this.#random = random;
  }

  pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#pumping) void this.#pump();
    });
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    while (this.#waiting.length > 0) {
      // Lets every ready operation arrive before one is chosen.
      await new Promise((resolve) => setImmediate(resolve));
      const [chosen] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
      chosen?.();
    }
    this.#pumping = false;
  }

  /** With `atOnce` single values and keys are also read without a pause, as far as the store can. */
  wrap(kv: KvStore, atOnce: boolean): KvStore {
    const around = async <T>(call: () => Promise<T>): Promise<T> => {
      await this.pause();
      const result = await call();
      if (this.#random.next() < 0.5) await this.pause();
      return result;
    };
    const pause = (): Promise<void> => this.pause();
    return {
      type: kv.type,
      get: (...args) => around(() => kv.get(...args)),
      ...(atOnce && kv.valueAtOnce !== undefined ? { valueAtOnce: kv.valueAtOnce.bind(kv) } : {}),
      ...(atOnce && kv.firstKeyAtOnce !== undefined ? { firstKeyAtOnce: kv.firstKeyAtOnce.bind(kv) } : {}),
      set: (...args) => around(() => kv.set(...args)),
      // As a database that is asked for both at once: others come between the write and the read.
      ...(atOnce
        ? {}
        : {
            setThenGet: async ({ partition, key, value }, ...read) => {
              await around(() => kv.set(partition, key, value));
              return around(() => kv.get(...read));
            },
          }),
      setIf: (...args) => around(() => kv.setIf(...args)),
      change: (...args) => around(() => kv.change(...args)),
      getMany: (...args) => around(() => kv.getMany(...args)),
      setMany: (...args) => around(() => kv.setMany(...args)),
      deleteMany: (...args) => around(() => kv.deleteMany(...args)),
      maxKeyBytes: (partition) => kv.maxKeyBytes(partition),
      delete: (...args) => around(() => kv.delete(...args)),
      deleteIf: (...args) => around(() => kv.deleteIf(...args)),
      async *scan(partition, options): AsyncGenerator<KvEntry[]> {
        await pause();
        for await (const page of kv.scan(partition, options)) {
          yield page;
          await pause();
        }
      },
      partitions: () => kv.partitions(),
      close: () => kv.close(),
    };
  }
}
