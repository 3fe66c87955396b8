import { MessageChannel, Worker } from 'node:worker_threads';
import { HookFailure } from '../running/errors.ts';
import type { FromWorker, HostAnswer, HostCall, LuaJob, LuaWorkerData, ToWorker } from './worker-protocol.ts';

/** What a thread gets beyond its deadline to end by itself, with a traceback. */
const lenienceMs = 300;
/** Memory of a thread besides Lua's own. */
const heapMb = 128;

export interface LuaRunnerOptions {
  readonly memoryBytes: number;
  /** Scripts at once; the others wait. */
  readonly maxRunning: number;
}

export interface ScriptRun {
  readonly job: LuaJob;
  readonly signal: AbortSignal;
  readonly answer: (call: HostCall, signal: AbortSignal) => Promise<HostAnswer>;
  readonly print: (bytes: Uint8Array) => void;
}

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './lua-worker.ts' : './lua-worker.js', import.meta.url);
}

/** A thread that waits for its script. */
interface SpareThread {
  readonly worker: Worker;
  readonly ready: Promise<void>;
}

/** Runs each script in a thread of its own, which ends with it. */
export class LuaRunner {
  readonly #options: LuaRunnerOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #spare: SpareThread | undefined;
  #isClosed = false;

  constructor(options: LuaRunnerOptions) {
    this.#options = options;
  }

  /** Rejects with a `HookFailure` when the script does not pass. `start` is called when it is its turn. */
  async run(start: () => ScriptRun): Promise<void> {
    if (this.#running >= this.#options.maxRunning)
      await new Promise<void>((next) => this.#waiting.push(next));
    else this.#running += 1;
    try {
      await this.#runNow(start());
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#spare?.worker.terminate();
    this.#spare = undefined;
  }

  async #runNow(run: ScriptRun): Promise<void> {
    const { worker, ready } = this.#take();
    const over = new AbortController();
    const ended = Promise.withResolvers<string | undefined>();
    const { port1: answers, port2: reply } = new MessageChannel();
    const announced = new Int32Array(new SharedArrayBuffer(4));
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'output') run.print(message.bytes);
      else if (message.kind === 'ended') ended.resolve(message.failure);
      else if (message.kind === 'call') {
        void run
          .answer(message.call, over.signal)
          .catch((error: unknown): HostAnswer => ({
            error: error instanceof Error ? error.message : String(error),
          }))
          .then((answer) => {
            // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
            reply.postMessage(answer);
            Atomics.store(announced, 0, 1);
            Atomics.notify(announced, 0);
          });
      }
    });
    worker.on('error', (error: Error & { code?: string }) =>
      ended.resolve(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? 'not enough memory'
          : `the script crashed: ${error.message}`,
      ),
    );
    worker.on('exit', () => ended.resolve('the thread of the script ended'));
    const stop = (): void => ended.resolve('the server stopped while the hook ran');
    run.signal.addEventListener('abort', stop, { once: true });
    if (run.signal.aborted) stop();
    const { deadline } = run.job;
    const timer =
      deadline === undefined
        ? undefined
        : setTimeout(
            () => ended.resolve('time limit exceeded'),
            Math.max(0, deadline - Date.now()) + lenienceMs,
          );
    let failure: string | undefined;
    try {
      await Promise.race([ready, ended.promise]);
      const message: ToWorker = { job: run.job, announced, answers };
      worker.postMessage(message, [answers]);
      failure = await ended.promise;
    } finally {
      clearTimeout(timer);
      run.signal.removeEventListener('abort', stop);
      over.abort();
      reply.close();
      void worker.terminate();
    }
    if (failure !== undefined) throw new HookFailure(failure);
  }

  /** The thread that stands by, or a new one; another is made ready for the next script. */
  #take(): SpareThread {
    const taken = this.#spare ?? this.#start();
    this.#spare = undefined;
    setImmediate(() => {
      if (this.#isClosed) return;
      this.#spare ??= this.#start();
    });
    taken.worker.ref();
    return taken;
  }

  #start(): SpareThread {
    const workerData: LuaWorkerData = { memoryBytes: this.#options.memoryBytes };
    const worker = new Worker(workerEntry(), {
      workerData,
      name: 'svc-lua',
      env: {},
      // The interpreter writes there when it runs out of memory; the hook's log says it better.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    worker.stdout.resume();
    worker.stderr.resume();
    const ready = new Promise<void>((resolve, reject) => {
      worker.once('message', () => resolve());
      worker.once('error', reject);
    });
    ready.catch(() => {
      if (this.#spare?.worker === worker) this.#spare = undefined;
    });
    worker.unref();
    return { worker, ready };
  }
}
