import { once } from 'node:events';
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import { compileOnce } from './compile-once.ts';
import { loadLuaModule } from './lua-module.ts';
import { limitMemory } from './memory-limit.ts';
import type { Ask } from './packages/svc.ts';
import { ScriptInterpreter } from './script-interpreter.ts';
import { ownThreadId } from './thread-priority.ts';
import type { FromWorker, HostAnswer, LuaJob, LuaWorkerData } from './worker-protocol.ts';

// Runs scripts one after the other, each in an interpreter that none has touched.

/** Output is sent in pieces of about this size. */
const pieceBytes = 16 * 1024;

const thread = ownThreadId();
const { memoryBytes, netHttpEnabled, announced, answers } = workerData as LuaWorkerData;

function serve(job: LuaJob, interpreter: ScriptInterpreter): void {
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
  const failure = interpreter.run(job, {
    ask,
    print(bytes) {
      // More is dropped anyway; a script that prints forever must not fill the memory of the server.
      pending += bytes.slice(0, room);
      room -= Math.min(room, bytes.length);
      if (pending.length >= pieceBytes) flush();
    },
    onTick: flush,
  });
  send({ kind: 'ended', failure, bytes: Buffer.from(pending, 'latin1') });
}

async function serveNext(port: MessagePort, interpreter: ScriptInterpreter): Promise<void> {
  const next = once(port, 'message');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread's port, not a window
  port.postMessage({ kind: 'ready', thread } satisfies FromWorker);
  const [job] = (await next) as [LuaJob];
  serve(job, interpreter);
}

/** Serves until a script has made the memory grow: it never shrinks. */
async function serveWith(port: MessagePort, interpreter: ScriptInterpreter): Promise<void> {
  while (!interpreter.hasGrown) {
    await serveNext(port, interpreter);
    interpreter.reset();
  }
}

limitMemory(memoryBytes);
compileOnce();
if (parentPort === null) throw new TypeError('this runs in a thread');
for (;;) {
  const lua = await loadLuaModule();
  await serveWith(parentPort, new ScriptInterpreter(lua, { netHttpEnabled }));
}
