import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { heapRoom } from './heap-room.ts';
import { logDescriptor } from './log-pipe.ts';
import type { Role } from './messages.ts';
import { workerArgument } from './worker-argument.ts';

/**
 * The collector looks with one thread: more would take the other cores away from the workers there. Large uploads call
 * it early.
 */
const collectorFlags = ['--no-parallel-scavenge', '--expose-gc'];

/**
 * By default the C library gives nearly every thread an arena and keeps freed memory in each. After a large import and
 * commits that is 110 MB more for the whole service.
 */
const allocator = { MALLOC_ARENA_MAX: '2' };

/** Starts processes of this program that become workers. */
export class WorkerProcesses {
  readonly #program: string;
  readonly #spares: Worker[] = [];

  constructor(program: string) {
    this.#program = program;
    // Used where workers cannot share a port by themselves.
    cluster.schedulingPolicy = cluster.SCHED_RR;
  }

  /** Starts an HTTP worker before it is needed: it loads its code meanwhile. */
  startSpare(): void {
    const spare = this.#fork('http');
    // One that dies is replaced when it is needed.
    spare.on('error', () => {});
    this.#spares.push(spare);
  }

  start(role: Role): Worker {
    const spare = role === 'http' ? this.#spares.shift() : undefined;
    return spare === undefined || spare.isDead() ? this.#fork(role) : spare;
  }

  /** Ends the processes that nobody took. */
  close(): void {
    for (const spare of this.#spares.splice(0)) spare.process.kill('SIGKILL');
  }

  #fork(role: Role): Worker {
    const stdio: ('ignore' | 'inherit' | 'ipc' | 'pipe')[] = ['ignore', 'inherit', 'inherit', 'ipc'];
    stdio[logDescriptor] = 'pipe';
    cluster.setupPrimary({
      exec: this.#program,
      args: [workerArgument, role],
      execArgv: [...process.execArgv, ...collectorFlags, ...heapRoom[role]],
      stdio,
    });
    return cluster.fork({ ...allocator, ...process.env });
  }
}
