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
}

/**
 * Threads that read ranges; they are started when there is work and end with the run. When one of them cannot start, or
 * dies, none is used any more.
 */
export class MarkThreads {
  readonly size: number;
  readonly #idle: Thread[] = [];
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

  /** Undefined when a thread could not do it. At most `size` calls at a time. */
  async run(job: Omit<MarkJob, 'job'>): Promise<RangeMarks | undefined> {
    if (this.#isBroken) return undefined;
    const thread = this.#idle.pop() ?? this.#start();
    this.#jobs += 1;
    const message: MarkJob = { ...job, job: this.#jobs };
    const fresh = await new Promise<RangeMarks | undefined>((resolve) => {
      thread.waiting = resolve;
      thread.worker.postMessage(message, []);
    });
    if (this.#all.has(thread)) this.#idle.push(thread);
    return fresh;
  }

  async close(): Promise<void> {
    const threads = [...this.#all];
    this.#all.clear();
    this.#idle.length = 0;
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #start(): Thread {
    const worker = new Worker(this.#entry, {
      name: 'svc-gc',
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMegabytes },
    });
    const thread: Thread = { worker, waiting: undefined };
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
