import { Worker } from 'node:worker_threads';
import { ThreadPriority } from '../thread-priority.ts';
import type { HostAnswer, MetastoreCall } from '../worker-protocol.ts';
import type {
  FromMetastoreThread,
  MetastoreWorkerData,
  ThreadAnswer,
  ThreadCall,
  ToMetastoreThread,
} from './thread-protocol.ts';

export interface MetastoreRun {
  /** Answers what the thread asks. */
  readonly answer: (call: ThreadCall) => Promise<ThreadAnswer>;
  /** Of the thread, of what a metastore sends, and of the result. */
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

const mebibyte = 1024 ** 2;
/** Less, and the thread itself does not start. */
const leastHeapMb = 64;

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './metastore-worker.ts' : './metastore-worker.js';
  return new URL(name, import.meta.url);
}

/**
 * Runs an operation on metastores in a thread of its own. They answer what they like, and patterns of scripts are
 * matched there: whatever that costs, requests are served meanwhile, and ending the thread ends its connections.
 */
export async function runMetastore(call: MetastoreCall, run: MetastoreRun): Promise<HostAnswer> {
  const workerData: MetastoreWorkerData = { call, maxReceivedBytes: run.memoryBytes };
  const worker = new Worker(workerEntry(), {
    workerData,
    name: 'svc-metastore',
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: Math.max(leastHeapMb, run.memoryBytes / mebibyte) },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  let priority: ThreadPriority | undefined;
  const { promise, resolve } = Promise.withResolvers<HostAnswer>();
  const fail = (message: string): void => resolve({ error: message });
  const cancel = (): void => fail('the script is over');
  worker.on('message', (message: FromMetastoreThread) => {
    if (message.kind === 'ready') {
      if (message.thread === undefined) return;
      priority = new ThreadPriority(message.thread);
      priority.watch();
    } else if (message.kind === 'call') {
      void run
        .answer(message.call)
        .catch((error: unknown): ThreadAnswer => ({
          error: error instanceof Error ? error.message : String(error),
        }))
        .then((answer) => {
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
          worker.postMessage({ id: message.id, answer } satisfies ToMetastoreThread);
        });
    } else if (message.kind === 'failed') fail(message.message);
    else {
      const body = Buffer.from(message.result);
      if (body.length > run.memoryBytes) fail(`the result is larger than ${run.memoryBytes} bytes`);
      else resolve({ status: 200, statusText: '', rawHeaders: [], body });
    }
  });
  worker.on('error', (error: Error & { code?: string }) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    fail(isMemory ? 'not enough memory for what the metastores sent' : error.message);
  });
  worker.on('exit', () => fail('the thread of the operation ended'));
  run.signal.addEventListener('abort', cancel, { once: true });
  if (run.signal.aborted) cancel();
  try {
    return await promise;
  } finally {
    run.signal.removeEventListener('abort', cancel);
    priority?.restore();
    await worker.terminate();
  }
}
