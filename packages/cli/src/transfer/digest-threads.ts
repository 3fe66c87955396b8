import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { md5Lanes } from '@svc/encoding';
import type { DigestAnswer, DigestRequest } from './digest-worker.ts';

/** How much more is written before the thread is told. */
const step = 1024 * 1024;
const mostThreads = 4;
/** The share of its time in which the main thread is at work. */
const busyFrom = 0.5;

/** The MD5 of a file that is being written, found in another thread, which reads behind the writer. */
export interface ThreadDigest {
  wrote(upTo: number): void;
  finish(size: number): Promise<string>;
  drop(): void;
}

/** The MD5 of a file that will be complete soon, found in another thread beside those of others. */
export interface CompleteDigest {
  finish(path: string, size: number): Promise<string>;
  drop(): void;
}

interface Waiting {
  readonly resolve: (md5: string) => void;
  readonly reject: (error: Error) => void;
}

/** Threads that read files and digest them while the main one goes on: one at once, more when they are needed. */
export class DigestThreads {
  readonly #threads: Worker[] = [];
  readonly #waiting = new Map<number, Waiting>();
  #jobs = 0;
  #files = 0;
  /** How many more files will be complete. */
  #coming = 0;
  readonly #began = performance.eventLoopUtilization();
  #broken: Error | undefined;

  constructor() {
    this.#thread(0);
  }

  openComplete(): CompleteDigest {
    this.#coming += 1;
    let isComing = true;
    // One whose thread failed is dropped as well.
    const came = (): void => {
      if (isComing) this.#coming -= 1;
      isComing = false;
    };
    return {
      finish: (path, size) => {
        came();
        // Those that follow each other are in one thread, which digests so many at once.
        const thread = this.#thread(Math.floor(this.#files++ / md5Lanes));
        const next = this.#coming > 0 && this.#isBusy() ? 'complete' : 'last';
        return this.#ask(thread, { job: this.#jobs++, path, upTo: size, next });
      },
      drop: came,
    };
  }

  open(path: string): ThreadDigest {
    const job = this.#jobs++;
    const thread = this.#thread(job);
    let told = 0;
    const tell = (upTo: number, next: DigestRequest['next']): void => {
      told = upTo;
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      thread.postMessage({ job, path, upTo, next } satisfies DigestRequest);
    };
    return {
      wrote(upTo) {
        if (upTo - told >= step) tell(upTo, 'more');
      },
      finish: (size) => this.#ask(thread, { job, path, upTo: size, next: 'finish' }),
      drop: () => tell(0, 'drop'),
    };
  }

  /** Whether processors are short rather than the network: only then is it worth waiting to save some of their time. */
  #isBusy(): boolean {
    const { utilization } = performance.eventLoopUtilization(this.#began);
    return utilization > busyFrom;
  }

  #ask(thread: Worker, request: DigestRequest): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) {
        reject(this.#broken);
        return;
      }
      this.#waiting.set(request.job, { resolve, reject });
      // Who waits keeps the process alive; a thread without work does not.
      thread.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      thread.postMessage(request);
    });
  }

  #thread(turn: number): Worker {
    const index = turn % threadCount();
    const known = this.#threads[index];
    if (known !== undefined) return known;
    const { Worker: Thread } = process.getBuiltinModule('node:worker_threads');
    const thread = new Thread(workerEntry());
    thread.unref();
    this.#threads[index] = thread;
    thread.on('message', (answer: DigestAnswer) => {
      const waiting = this.#waiting.get(answer.job);
      this.#waiting.delete(answer.job);
      if (this.#waiting.size === 0) for (const each of this.#threads) each.unref();
      if ('md5' in answer) waiting?.resolve(answer.md5);
      else waiting?.reject(answer.error);
    });
    thread.on('error', (error: Error) => {
      this.#broken = error;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
    return thread;
  }
}

function threadCount(): number {
  return Math.max(1, Math.min(mostThreads, availableParallelism() - 1));
}

function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './digest-worker.ts' : './svcctl-digest-worker.js';
  return new URL(name, import.meta.url);
}
