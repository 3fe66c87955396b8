import type { EngineLogger } from '../face/options.ts';

/** Work the engine does beside requests. Closing stops taking new work and waits for what runs. */
export class Background {
  readonly #logger: EngineLogger;
  readonly #running = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];
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

  /** Runs now and then every `intervalMs`, never twice at a time. */
  every(name: string, intervalMs: number, work: (signal: AbortSignal) => Promise<unknown>): void {
    let busy = false;
    const tick = (): void => {
      if (busy) return;
      busy = true;
      this.start(name, async (signal) => {
        try {
          await work(signal);
        } finally {
          busy = false;
        }
      });
    };
    tick();
    this.#timers.push(setInterval(tick, intervalMs).unref());
  }

  async close(): Promise<void> {
    this.#stop.abort();
    for (const timer of this.#timers) clearInterval(timer);
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
