import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from './paths.ts';

/** Leftovers of a process that cannot be asked about (another machine or container) are removed after this. */
const foreignAgeMs = 7 * 24 * 3600 * 1000;

let instances = 0;

/** This process's folder for files that are not objects yet. Folders of processes that died are swept at start. */
export class TemporaryFiles {
  readonly #folder: string;
  #counter = 0;

  constructor(root: string) {
    const parent = join(root, temporaryFolder);
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    sweep(parent);
    this.#folder = join(parent, `${machine()}.${process.pid}.${startTime(process.pid) ?? 0}.${instances++}`);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** A path nothing else uses. */
  next(): string {
    // Another machine takes a folder that was not used for long for a leftover.
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    return join(this.#folder, String(this.#counter++));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    const [host, pid, started] = name.split('.');
    const leftover =
      host === machine()
        ? startTime(Number(pid)) !== started
        : Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) > foreignAgeMs;
    if (leftover) removeLeftover(folder);
  }
}

function removeLeftover(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // It takes room and nothing else: no reason to keep the store or the other leftovers from being opened and swept.
  }
}

/** Same only for processes that see each other's ids. */
function machine(): string {
  let namespace = '';
  try {
    namespace = readlinkSync('/proc/self/ns/pid');
  } catch {
    // Only Linux has process id namespaces.
  }
  return createHash('sha256').update(`${hostname()}\n${namespace}`).digest('hex').slice(0, 12);
}

/** When a living process started; undefined when there is none. Tells a reused process id from the old one. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    if (process.platform === 'linux') return undefined;
  }
  try {
    process.kill(pid, 0);
    return '0';
  } catch {
    return undefined;
  }
}
