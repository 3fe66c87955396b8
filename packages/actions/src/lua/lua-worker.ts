import { once } from 'node:events';
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import { compileOnce } from './compile-once.ts';
import { loadLuaModule, type LuaModule } from './lua-module.ts';
import { limitMemory } from './memory-limit.ts';
import type { Ask } from './packages/svc.ts';
import { runScript } from './run-script.ts';
import type { FromWorker, HostAnswer, LuaWorkerData, ToWorker } from './worker-protocol.ts';

// Runs scripts one after the other, each in a state of its own.

/** Output is sent in pieces of about this size. */
const pieceBytes = 16 * 1024;

function serve({ job, announced, answers }: ToWorker, lua: LuaModule): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  const send = (message: FromWorker): void => parentPort?.postMessage(message);
  let pending = '';
  let room = job.outputLimit + 1;
  const flush = (): void => {
    if (pending === '') return;
    send({ kind: 'output', bytes: Buffer.from(pending, 'latin1') });
    pending = '';
  };
  const ask: Ask = (call) => {
    flush();
    Atomics.store(announced, 0, 0);
    send({ kind: 'call', call });
    Atomics.wait(announced, 0, 0);
    const received = receiveMessageOnPort(answers)?.message as HostAnswer | undefined;
    if (received === undefined) throw new Error('the call was not answered');
    if ('error' in received) throw new Error(received.error);
    return received;
  };
  const failure = runScript(lua, job, {
    ask,
    print(bytes) {
      // More is dropped anyway; a script that prints forever must not fill the memory of the server.
      pending += bytes.slice(0, room);
      room -= Math.min(room, bytes.length);
      if (pending.length >= pieceBytes) flush();
    },
    onTick: flush,
  });
  flush();
  send({ kind: 'ended', failure });
}

/** So many scripts later the memory is replaced, whatever they left behind in it. */
const runsPerModule = 100;

async function serveNext(port: MessagePort, lua: LuaModule): Promise<void> {
  const next = once(port, 'message');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  port.postMessage({ kind: 'ready' } satisfies FromWorker);
  const [message] = (await next) as [ToWorker];
  serve(message, lua);
  message.answers.close();
}

/** Serves with one module, each script in a state of its own, until its memory has grown: memory never shrinks. */
async function serveWith(port: MessagePort, lua: LuaModule): Promise<void> {
  const size = lua.HEAPU8.length;
  for (let runs = 0; runs < runsPerModule && lua.HEAPU8.length === size; runs += 1)
    await serveNext(port, lua);
}

limitMemory((workerData as LuaWorkerData).memoryBytes);
compileOnce();
if (parentPort === null) throw new TypeError('this runs in a thread');
for (;;) await serveWith(parentPort, await loadLuaModule());
