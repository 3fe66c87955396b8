import { Worker } from 'node:worker_threads';
import type { RangeMarks } from './mark-list.ts';
import type { MarkAnswer, MarkJob } from './mark-worker.ts';

export interface ThreadOptions {
  readonly heapMegabytes: number;
  readonly onBroken: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  waiting: ((fresh: RangeMarks | undefined) => void) | undefined;
  /** Jobs that it has or waits for. */
  jobs: number;
  /** The end of the last of them. */
  turn: Promise<unknown>;
}

/** As many as a thread may remember, and more. */
const mostOwners = 10_000;

/**
 * Threads that read ranges; they are started when there is work and end with the run. When one of them cannot start, or
 * dies, none is used any more.
 */
export class MarkThreads {
  readonly size: number;
  /** Who has read a range remembers it for a while. */
  readonly #owners = new Map<string, Thread>();
  readonly #all = new Set<Thread>();
  readonly #options: ThreadOptions;
  readonly #entry: URL;
  #jobs = 0;
  #isBroken = false;

  constructor(size: number, options: ThreadOptions, entry = workerEntry()) {
    this.size = size;
    this.#options = options;
    this.#entry = entry;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Undefined when a thread could not do it. */
  async run(job: Omit<MarkJob, 'job'>): Promise<RangeMarks | undefined> {
    if (this.#isBroken) return undefined;
    const thread = this.#choose(job);
    if (this.#owners.size > mostOwners) this.#owners.clear();
    this.#owners.set(job.range.id, thread);
    thread.jobs += 1;
    const done = thread.turn.then(() => this.#send(thread, job));
    thread.turn = done;
    try {
      return await done;
    } finally {
      thread.jobs -= 1;
    }
  }

  /** The one that remembers what the range is compared with, else one with little to do. */
  #choose({ shown }: Omit<MarkJob, 'job'>): Thread {
    for (const { id } of shown) {
      const owner = this.#owners.get(id);
      if (owner !== undefined && this.#all.has(owner)) return owner;
    }
    const [first, ...others] = this.#all;
    if (first === undefined || this.#all.size < this.size) return this.#start();
    return others.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least), first);
  }

  #send(thread: Thread, job: Omit<MarkJob, 'job'>): Promise<RangeMarks | undefined> {
    if (this.#isBroken || !this.#all.has(thread)) return Promise.resolve(undefined);
    this.#jobs += 1;
    const message: MarkJob = { ...job, job: this.#jobs };
    return new Promise((resolve) => {
      thread.waiting = resolve;
      thread.worker.postMessage(message, []);
    });
  }

  async close(): Promise<void> {
    const threads = [...this.#all];
    this.#all.clear();
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #start(): Thread {
    const worker = new Worker(this.#entry, {
      name: 'svc-gc',
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMegabytes },
    });
    const thread: Thread = { worker, waiting: undefined, jobs: 0, turn: Promise.resolve() };
    this.#all.add(thread);
    const answer = (fresh: RangeMarks | undefined): void => {
      const { waiting } = thread;
      thread.waiting = undefined;
      waiting?.(fresh);
    };
    worker.on('message', ({ fresh }: MarkAnswer) => answer(fresh));
    const lost = (error: unknown): void => {
      // One that was closed is not lost, and each is lost once.
      if (this.#all.delete(thread) && !this.#isBroken) {
        this.#isBroken = true;
        this.#options.onBroken(error);
      }
      answer(undefined);
    };
    worker.on('error', lost);
    worker.on('exit', (code) => lost(new Error(`the thread ended with code ${code}`)));
    return thread;
  }
}

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './mark-worker.ts' : './mark-worker.js';
  return new URL(name, import.meta.url);
}
