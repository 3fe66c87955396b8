import { parentPort, workerData } from 'node:worker_threads';
import { BlockError } from '../../errors.ts';
import { walkFolder } from './walk-folder.ts';
import type { WalkMessage, WalkWorkerData } from './walk-protocol.ts';

/** Walks in a thread of its own and hands over a page whenever the reader is ready for one. */
function run({ plan, credits }: WalkWorkerData): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  const send = (message: WalkMessage): void => parentPort?.postMessage(message);
  const skipped = { count: 0, example: '' };
  try {
    for (const page of walkFolder(plan, skipped)) {
      while (Atomics.load(credits, 0) <= 0) Atomics.wait(credits, 0, 0);
      Atomics.sub(credits, 0, 1);
      send({ kind: 'page', page });
    }
    send({ kind: 'end', skipped });
  } catch (error) {
    send({
      kind: 'failed',
      error: error instanceof BlockError ? { kind: error.kind, message: error.message } : error,
    });
  }
}

run(workerData as WalkWorkerData);
