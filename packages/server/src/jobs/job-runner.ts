import { hostname } from 'node:os';
import type { Job } from '@svc/engine';
import { Lease } from '@svc/kv';
import type { HeldLease, KvStore } from '@svc/kv';
import type { Logger } from '../logging/index.ts';
import { LeaseKeeper } from './lease-keeper.ts';

interface JobRunnerOptions {
  readonly kv: KvStore;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** How long a lease outlives a dead holder. */
  readonly leaseTermMs?: number | undefined;
  readonly clock?: (() => number) | undefined;
}

/** The longest wait of a timer. */
const longestMs = 2 ** 31 - 1;

/** Runs the jobs of this process, each at its interval, those with a lease only while this process holds it. */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #keepers = new Map<string, LeaseKeeper>();
  readonly #running: RunningJob[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  start(jobs: readonly Job[]): void {
    for (const job of jobs) {
      const running = new RunningJob(job, this.#options.logger);
      this.#running.push(running);
      if (job.lease === undefined) running.start();
      else this.#keeper(job.lease).add(running);
    }
  }

  #keeper(name: string): LeaseKeeper {
    const { kv, logger, leaseTermMs: termMs, clock } = this.#options;
    const owner = `${hostname()}:${process.pid}`;
    const keeper =
      this.#keepers.get(name) ??
      new LeaseKeeper({ name, lease: new Lease(kv, { name, owner, termMs, clock }), logger });
    this.#keepers.set(name, keeper);
    return keeper;
  }

  /** Waits for the rounds under way, then lets other servers in. */
  async stop(): Promise<void> {
    const keepers = [...this.#keepers.values()];
    await Promise.all(keepers.map((keeper) => keeper.close()));
    await Promise.all(this.#running.map((job) => job.end()));
    await Promise.all(keepers.map((keeper) => keeper.release()));
  }
}

class RunningJob {
  readonly #job: Job;
  readonly #logger: Pick<Logger, 'error'>;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> | undefined;

  constructor(job: Job, logger: Pick<Logger, 'error'>) {
    this.#job = job;
    this.#logger = logger;
  }

  start(held?: HeldLease): void {
    const work = this.#job.begin();
    const timer = setInterval(() => tick(), Math.min(this.#job.everyMs, longestMs)).unref();
    this.#timer = timer;
    const isStopped = (): boolean => this.#timer !== timer;
    const mayGoOn = async (): Promise<boolean> => !isStopped() && (await held?.isHeld()) !== false;
    const oneRound = async (): Promise<void> => {
      try {
        if (await mayGoOn()) await work({ mayGoOn });
      } catch (error) {
        if (!isStopped()) this.#logger.error({ error, job: this.#job.name }, 'background job failed');
      }
    };
    const tick = (): void => {
      // A round from before the lease was lost may not have noticed yet.
      if (isStopped() || this.#round !== undefined) return;
      this.#round = oneRound().finally(() => {
        this.#round = undefined;
      });
    };
    tick();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async end(): Promise<void> {
    this.stop();
    await this.#round;
  }
}
