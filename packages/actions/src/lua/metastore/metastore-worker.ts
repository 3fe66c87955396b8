import { parentPort, workerData } from 'node:worker_threads';
import { ownThreadId } from '../thread-priority.ts';
import { runOperation } from './run-operation.ts';
import type {
  FromMetastoreThread,
  MetastoreWorkerData,
  ThreadAnswer,
  ThreadCall,
  ToMetastoreThread,
} from './thread-protocol.ts';

// Runs one operation on metastores. Whatever it needs from outside it asks the main thread for, except for the bytes
// of connections to addresses that the main thread has allowed.

if (parentPort === null) throw new TypeError('this runs in a thread');
const port = parentPort;
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
const send = (message: FromMetastoreThread): void => port.postMessage(message);

const waiting = new Map<number, (answer: ThreadAnswer) => void>();
let calls = 0;

async function ask(call: ThreadCall): Promise<Exclude<ThreadAnswer, { error: string }>> {
  calls += 1;
  const id = calls;
  const { promise, resolve } = Promise.withResolvers<ThreadAnswer>();
  waiting.set(id, resolve);
  send({ kind: 'call', id, call });
  const answer = await promise;
  if ('error' in answer) throw new Error(answer.error);
  return answer;
}

port.on('message', ({ id, answer }: ToMetastoreThread) => {
  waiting.get(id)?.(answer);
  waiting.delete(id);
});

const { call, maxReceivedBytes } = workerData as MetastoreWorkerData;
send({ kind: 'ready', thread: ownThreadId() });
try {
  const result = await runOperation(call, { ask, maxReceivedBytes });
  send({ kind: 'ended', result: JSON.stringify(result) });
} catch (error) {
  send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
}
