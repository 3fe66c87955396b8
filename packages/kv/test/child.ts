import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

export interface Child {
  readonly process: ChildProcess;
  /** What it prints, line by line; a line it wrote before it was killed still arrives. */
  readonly lines: Interface;
  readonly ended: Promise<unknown[]>;
}

/** Starts one of the programs in this folder in a process of its own. */
export function startChild(program: string, ...args: string[]): Child {
  const child = fork(join(import.meta.dirname, program), args, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  if (child.stdout === null) throw new Error('the child has no output');
  return { process: child, lines: createInterface(child.stdout), ended: once(child, 'close') };
}

export async function nextLine(child: Child): Promise<string> {
  const [line] = (await once(child.lines, 'line')) as [string];
  return line;
}
