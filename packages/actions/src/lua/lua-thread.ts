import { Worker } from 'node:worker_threads';
import type { FromWorker, LuaWorkerData, ToWorker } from './worker-protocol.ts';

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
  #isAlive = true;

  constructor(memoryBytes: number) {
    const workerData: LuaWorkerData = { memoryBytes };
    this.#worker = new Worker(workerEntry(), {
      workerData,
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
      if (message.kind === 'ready') this.#ready.resolve();
      else this.#listener?.message(message);
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
  send(message: ToWorker): void {
    this.#ready = Promise.withResolvers();
    this.#worker.postMessage(message, [message.answers]);
  }

  /** Nobody waits for it any more. */
  rest(): void {
    this.#listener = undefined;
    this.#worker.unref();
  }

  async end(): Promise<void> {
    this.#isAlive = false;
    this.#listener = undefined;
    await this.#worker.terminate();
  }

  #lose(reason: string): void {
    this.#isAlive = false;
    this.#ready.resolve();
    this.#listener?.lost(reason);
  }
}
