import { spawn, type SpawnOptions } from 'node:child_process';
import { UnavailableError } from './unavailable-error.ts';

/** Runs a command to its end and answers its standard output; a failure carries the end of its output. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'ENOENT'
          ? new UnavailableError(`"${command}" is not installed on this machine`)
          : new Error(`${command}: ${error.message}`),
      );
    });
    child.on('close', (code) => {
      if (code === 0) resolve(stdout);
      else
        reject(
          new Error(
            `${command} ${args.join(' ')} exited with ${code}:\n${`${stdout}\n${stderr}`.slice(-4000)}`,
          ),
        );
    });
  });
}
