import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Lease, type HeldLease, type KvStore } from '@svc/kv';
import { EventTaken, type EventQueue, type QueuedEvent, type Waiting } from './queued-event.ts';

/** Events handled at once; the others wait in the store. */
const maxRunning = 16;
/** How long an event of a server that died waits for another one. */
const defaultTermMs = 20_000;

interface QueueRunnerOptions {
  readonly kv: KvStore;
  readonly queue: EventQueue;
  readonly logger: { warn(fields: object, message: string): void };
  /** Runs the hooks of an event and records what came of it. */
  readonly handle: (queued: QueuedEvent, signal: AbortSignal) => Promise<void>;
  readonly leaseTermMs?: number | undefined;
}

/**
 * Takes events off the queue. Whoever handles one holds a lease on it: of several servers one does, and when it dies
 * another takes over once the lease has run out.
 */
export class QueueRunner {
  readonly #options: QueueRunnerOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #looking: Promise<void> | undefined;
  /** Queues to look into; `undefined` stands for all of them. */
  readonly #hinted = new Set<string | undefined>();
  #isClosed = false;

  constructor(options: QueueRunnerOptions) {
    this.#options = options;
  }

  /** Looks for events that nobody handles, in one queue or all. Resolves when those found are being handled. */
  wake(queue?: string): Promise<void> {
    this.#hinted.add(queue);
    this.#looking ??= this.#lookAround().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #lookAround(): Promise<void> {
    for (;;) {
      const [queue] = this.#hinted;
      if (this.#hinted.size === 0 || this.#isClosed) return;
      this.#hinted.delete(queue);
      try {
        for await (const waiting of this.#options.queue.waiting(queue)) {
          const { runId } = waiting;
          if (this.#isClosed) return;
          if (this.#running.has(runId)) continue;
          while (this.#running.size >= maxRunning) await Promise.race(this.#running.values());
          const running = this.#take(waiting).finally(() => this.#running.delete(runId));
          this.#running.set(runId, running);
        }
      } catch (error) {
        this.#options.logger.warn({ error }, 'waiting hooks could not be looked for; trying again later');
      }
    }
  }

  async #take(waiting: Waiting): Promise<void> {
    const { runId } = waiting;
    const { kv, queue, logger, leaseTermMs: termMs = defaultTermMs } = this.#options;
    let held: HeldLease | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      const lease = new Lease(kv, { name: `hooks/${runId}`, owner: `${hostname()}:${process.pid}`, termMs });
      held = await lease.acquire();
      if (held === undefined) return;
      // Whoever held it before may have finished.
      const queued = await queue.take(waiting, randomUUID());
      if (queued === undefined) return;
      const lost = new AbortController();
      timer = setInterval(() => {
        void held?.renew().then(
          (renewed) => {
            if (!renewed) lost.abort();
          },
          () => undefined,
        );
      }, lease.termMs / 3).unref();
      await this.#options.handle(queued, AbortSignal.any([this.#stop.signal, lost.signal]));
      // Stopped in the middle: what is in the queue says how far it came.
      if (this.#stop.signal.aborted || lost.signal.aborted) return;
      await queue.remove(waiting);
    } catch (error) {
      // Its lease ran out while it was held up.
      if (error instanceof EventTaken) return;
      logger.warn({ error, run: runId }, 'the hooks of an event could not be run; trying again later');
    } finally {
      clearInterval(timer);
      await held?.release().catch(() => undefined);
    }
  }

  /** Waits for what runs, `graceMs` at most, then ends it. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const { promise: patience, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([this.#allEnded(), patience]);
    clearTimeout(timer);
    this.#stop.abort();
    await this.#allEnded();
  }

  async #allEnded(): Promise<void> {
    await this.#looking;
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }
}
