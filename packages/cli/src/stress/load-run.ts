import type { Output } from '../output/output.ts';
import { Histogram, latencyBuckets } from './histogram.ts';

export interface LoadOptions<Item> {
  readonly out: Output;
  /** Named in the progress lines. */
  readonly name: string;
  readonly parallelism: number;
  readonly items: Iterable<Item> | AsyncIterable<Item>;
  readonly work: (item: Item) => Promise<void>;
  /** After each item, not measured. */
  readonly gap?: () => Promise<void>;
}

/** Does many pieces of work at once and prints how fast they went; a signal ends it early with the numbers so far. */
export async function runLoad<Item>(options: LoadOptions<Item>): Promise<void> {
  const run = new LoadRun(options);
  const stop = (): void => {
    run.stop();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    await run.run();
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

class LoadRun<Item> {
  readonly #options: LoadOptions<Item>;
  readonly #histogram = new Histogram(latencyBuckets);
  #completed = 0;
  #failed = 0;
  #firstError: string | undefined;
  #stopped = false;
  #wake: (() => void) | undefined;

  constructor(options: LoadOptions<Item>) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
    this.#wake?.();
  }

  async run(): Promise<void> {
    const { out, name, parallelism, items } = this.#options;
    const started = performance.now();
    let shownAt = started;
    let shownCount = 0;
    const rate = (): string => {
      const now = performance.now();
      const current = (this.#completed - shownCount) / Math.max(0.001, (now - shownAt) / 1000);
      shownAt = now;
      shownCount = this.#completed;
      return current.toFixed(2);
    };
    const counts = (): string =>
      `completed: ${this.#completed}, errors: ${this.#failed}, current rate: ${rate()} done/second`;
    const ticker = setInterval(() => {
      out.line(`${name} - ${counts()}`);
    }, 1000);
    const running = new Set<Promise<void>>();
    try {
      const stopped = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      for await (const item of items) {
        if (this.#stopped) break;
        const task: Promise<void> = this.#one(item).finally(() => running.delete(task));
        running.add(task);
        if (running.size >= parallelism) await Promise.race([stopped, ...running]);
      }
      if (!this.#stopped) await Promise.race([stopped, Promise.all(running)]);
    } finally {
      clearInterval(ticker);
    }
    this.#print(counts(), (performance.now() - started) / 1000);
  }

  async #one(item: Item): Promise<void> {
    const started = performance.now();
    try {
      await this.#options.work(item);
      this.#histogram.add(Math.round(performance.now() - started));
    } catch (error) {
      this.#failed += 1;
      this.#firstError ??= error instanceof Error ? error.message : String(error);
    }
    this.#completed += 1;
    if (!this.#stopped) await this.#options.gap?.();
  }

  #print(counts: string, seconds: number): void {
    const { out } = this.#options;
    const succeeded = this.#completed - this.#failed;
    out.line(counts);
    out.line();
    if (this.#firstError !== undefined) out.line(`First error: ${this.#firstError}`);
    out.line(`${this.#completed} total with ${this.#failed} failures in ${seconds.toFixed(3)}s`);
    out.line(`${(succeeded / seconds).toFixed(6)} successes/s`);
    out.line(`${(this.#failed / seconds).toFixed(6)} failures/s`);
    out.line();
    out.line('Histogram (ms):');
    for (const line of this.#histogram.lines()) out.line(line);
    out.line();
  }
}
