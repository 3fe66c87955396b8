import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

export interface HostedCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

export interface HostedResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const idle: ChildProcess[] = [];

/** Runs the tool in a process that has run it before, if one is free. */
export async function runHosted(call: HostedCall): Promise<HostedResult> {
  const host =
    idle.pop() ??
    fork(join(import.meta.dirname, 'tool-host.ts'), [], {
      // What must not differ from a process of its own.
      env: { PATH: call.env['PATH'] ?? '', HOME: call.cwd, TZ: 'UTC' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  host.ref();
  host.channel?.ref();
  const result = await new Promise<HostedResult>((resolve, reject) => {
    const ended = (): void => reject(new Error(`svcctl ${call.args.join(' ')} ended its process`));
    host.once('exit', ended);
    host.once('message', (message: HostedResult) => {
      host.off('exit', ended);
      resolve(message);
    });
    host.send(call);
  });
  // An idle one keeps no test from ending, and ends with it.
  host.unref();
  host.channel?.unref();
  idle.push(host);
  return result;
}
