import { workerArgument } from '../processes/worker-argument.ts';
import type { Role } from '../processes/messages.ts';
import type { StartRole } from '../processes/worker.ts';

interface MainOptions {
  /** This program's entry file, for starting worker processes. */
  readonly program: string;
  readonly argv: readonly string[];
}

/** Runs one invocation of `svc` and returns its exit code. */
export async function main(options: MainOptions): Promise<number> {
  const [command, role] = options.argv;
  if (command === workerArgument) {
    const { runWorker } = await import('../processes/worker.ts');
    runWorker({ http: loadHttp, background: loadBackground }, role as Role);
    return 0;
  }
  const { WorkerProcesses } = await import('../processes/worker-processes.ts');
  const processes = new WorkerProcesses(options.program);
  if (command === 'run' || (command === '-c' && options.argv[2] === 'run')) processes.startSpare();
  try {
    const { runCommand } = await import('./program.ts');
    return await runCommand({ argv: options.argv, processes });
  } finally {
    processes.close();
  }
}

/** Everything an HTTP worker will need is loaded at once, not when its turn comes. */
async function loadHttp(): Promise<StartRole> {
  const [{ startHttp }] = await Promise.all([import('../roles/http.ts'), import('../roles/http-surface.ts')]);
  return startHttp;
}

async function loadBackground(): Promise<StartRole> {
  return (await import('../roles/background.ts')).startBackground;
}
