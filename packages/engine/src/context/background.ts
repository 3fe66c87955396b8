import type { EngineLogger } from '../face/options.ts';

/** Work the engine does beside requests. Closing stops taking new work and waits for what runs. */
export class Background {
  readonly #logger: EngineLogger;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(logger: EngineLogger) {
    this.#logger = logger;
  }

  /** Aborted when the engine closes. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Runs once, beside the caller. Failures are logged, nobody waits for them. */
  start(name: string, work: (signal: AbortSignal) => Promise<unknown>): void {
    if (this.#stop.signal.aborted) return;
    const run = this.#guarded(name, work).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  async #guarded(name: string, work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    try {
      await work(this.#stop.signal);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#logger.error({ err: error, job: name }, 'background job failed');
    }
  }
}
