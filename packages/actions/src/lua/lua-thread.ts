import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { ThreadPriority } from './thread-priority.ts';
import type { FromWorker, HostAnswer, LuaJob, LuaLimits, LuaWorkerData } from './worker-protocol.ts';

/** Memory of a thread besides Lua's own. */
const heapMb = 128;

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './lua-worker.ts' : './lua-worker.js', import.meta.url);
}

/** Who hears from a thread while a script runs in it. */
export interface ThreadListener {
  message(message: FromWorker): void;
  /** The thread is gone. */
  lost(reason: string): void;
}

/** A thread for scripts, one after the other, each in an interpreter of its own. */
export class LuaThread {
  readonly #worker: Worker;
  #listener: ThreadListener | undefined;
  #ready = Promise.withResolvers<void>();
  readonly #announced = new Int32Array(new SharedArrayBuffer(4));
  readonly #reply: MessagePort;
  #priority: ThreadPriority | undefined;
  #isAlive = true;

  constructor({ memoryBytes, netHttpEnabled }: LuaLimits) {
    const { port1: answers, port2: reply } = new MessageChannel();
    this.#reply = reply;
    reply.unref();
    const workerData: LuaWorkerData = { memoryBytes, netHttpEnabled, announced: this.#announced, answers };
    this.#worker = new Worker(workerEntry(), {
      workerData,
      transferList: [answers],
      name: 'svc-lua',
      env: {},
      // The interpreter writes there when it runs out of memory; the hook's log says it better.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    this.#worker.stdout.resume();
    this.#worker.stderr.resume();
    this.#worker.on('message', (message: FromWorker) => {
      if (message.kind === 'ready') {
        if (message.thread !== undefined) this.#priority ??= new ThreadPriority(message.thread);
        this.#ready.resolve();
      } else this.#listener?.message(message);
    });
    this.#worker.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      this.#lose(isMemory ? 'not enough memory' : `the script crashed: ${error.message}`);
    });
    this.#worker.on('exit', () => this.#lose('the thread of the script ended'));
    this.#worker.unref();
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Has an interpreter that no script has seen, or is gone. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  listen(listener: ThreadListener): void {
    this.#listener = listener;
    this.#worker.ref();
  }

  /** The following `ready` is about the next interpreter. */
  send(job: LuaJob): void {
    this.#ready = Promise.withResolvers();
    this.#priority?.watch();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    this.#worker.postMessage(job);
  }

  /** Wakes the script, which waits for what it asked. */
  answer(answer: HostAnswer): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
    this.#reply.postMessage(answer);
    Atomics.store(this.#announced, 0, 1);
    Atomics.notify(this.#announced, 0);
  }

  /** Nobody waits for it any more. False when it is of no use to another script. */
  rest(): boolean {
    this.#listener = undefined;
    this.#worker.unref();
    return this.#priority?.restore() ?? true;
  }

  async end(): Promise<void> {
    this.#isAlive = false;
    this.#listener = undefined;
    this.#priority?.restore();
    this.#reply.close();
    await this.#worker.terminate();
  }

  #lose(reason: string): void {
    this.#isAlive = false;
    this.#ready.resolve();
    this.#listener?.lost(reason);
  }
}
