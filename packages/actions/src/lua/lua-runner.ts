import { HookFailure } from '../running/errors.ts';
import { LuaThread } from './lua-thread.ts';
import type { FromWorker, HostAnswer, HostCall, LuaJob, LuaLimits } from './worker-protocol.ts';

/** What a thread gets beyond its deadline to end by itself, with a traceback. */
const lenienceMs = 300;
/** How long a thread waits for a script: a server whose hooks are silent keeps none. */
const idleMs = 60_000;

/** Made once: an error of its own for every script would cost more than most scripts. */
const scriptOver = new Error('the script is over');

export interface LuaRunnerOptions extends LuaLimits {
  /** Scripts at once; the others wait. */
  readonly maxRunning: number;
}

export interface ScriptRun {
  readonly job: LuaJob;
  readonly signal: AbortSignal;
  readonly answer: (call: HostCall, signal: AbortSignal) => Promise<HostAnswer>;
  readonly print: (bytes: Uint8Array) => void;
}

/**
 * Runs scripts in threads, each script in an interpreter that no other has seen. Starting a thread takes longer than
 * most scripts, so one whose script came to its end is used again; any other is ended.
 */
export class LuaRunner {
  readonly #options: LuaRunnerOptions;
  readonly #waiting: (() => void)[] = [];
  readonly #idle: LuaThread[] = [];
  /** Scripts that may run and have no thread yet; while there are some, one is being started. */
  readonly #wanting: ((thread: LuaThread) => void)[] = [];
  #isStarting = false;
  #idleTimer: NodeJS.Timeout | undefined;
  /** So far. */
  threadsStarted = 0;
  #running = 0;
  #isClosed = false;

  constructor(options: LuaRunnerOptions) {
    this.#options = options;
  }

  /** Rejects with a `HookFailure` when the script does not pass. `start` is called when it can begin. */
  async run(start: () => ScriptRun): Promise<void> {
    if (this.#running >= this.#options.maxRunning)
      await new Promise<void>((next) => this.#waiting.push(next));
    else this.#running += 1;
    try {
      const thread = await this.#take();
      // Its time begins when it can: what starting a thread takes is not the script's.
      await thread.ready;
      await this.#runIn(thread, start());
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#endIdle();
  }

  async #runIn(thread: LuaThread, run: ScriptRun): Promise<void> {
    const over = new AbortController();
    const ended = Promise.withResolvers<string | undefined>();
    let cameToEnd = false;
    thread.listen({
      message(message: FromWorker) {
        if (message.kind === 'output') run.print(message.bytes);
        else if (message.kind === 'ended') {
          cameToEnd = true;
          if (message.bytes.length > 0) run.print(message.bytes);
          ended.resolve(message.failure);
        } else if (message.kind === 'call') {
          void run
            .answer(message.call, over.signal)
            .catch((error: unknown): HostAnswer => ({
              error: error instanceof Error ? error.message : String(error),
            }))
            .then((answer) => thread.answer(answer));
        }
      },
      lost: (reason) => ended.resolve(reason),
    });
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
      if (!thread.isAlive) ended.resolve('the thread of the script ended');
      else thread.send(run.job);
      failure = await ended.promise;
    } finally {
      clearTimeout(timer);
      run.signal.removeEventListener('abort', stop);
      over.abort(scriptOver);
      this.#giveBack(thread, cameToEnd && failure !== 'not enough memory');
    }
    if (failure !== undefined) throw new HookFailure(failure);
  }

  #take(): LuaThread | Promise<LuaThread> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isAlive) return idle;
    }
    const { promise, resolve } = Promise.withResolvers<LuaThread>();
    this.#wanting.push(resolve);
    if (!this.#isStarting) void this.#startWanted();
    return promise;
  }

  /** One after the other: before the next is ready, most scripts have ended, and their threads serve the others. */
  async #startWanted(): Promise<void> {
    this.#isStarting = true;
    while (this.#wanting.length > 0) {
      this.threadsStarted += 1;
      const thread = new LuaThread(this.#options);
      await thread.ready;
      this.#offer(thread);
    }
    this.#isStarting = false;
  }

  #offer(thread: LuaThread): void {
    const take = this.#wanting.shift();
    if (take !== undefined) {
      take(thread);
      return;
    }
    if (this.#isClosed) {
      void thread.end();
      return;
    }
    this.#idle.push(thread);
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this.#endIdle(), idleMs).unref();
  }

  #giveBack(thread: LuaThread, isSound: boolean): void {
    if (isSound && thread.isAlive && thread.rest()) this.#offer(thread);
    else void thread.end();
  }

  async #endIdle(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await Promise.all(this.#idle.splice(0).map((thread) => thread.end()));
  }
}
