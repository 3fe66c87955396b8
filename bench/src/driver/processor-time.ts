import { readdirSync, readFileSync } from 'node:fs';

/** A tick of the kernel's accounts. */
const tickMs = 10;

interface Process {
  readonly name: string;
  readonly parent: number;
  readonly ms: number;
}

function readProcess(pid: string): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    return {
      name: stat.slice(stat.indexOf('(') + 1, end),
      parent: Number(fields[1]),
      ms: (Number(fields[11]) + Number(fields[12])) * tickMs,
    };
  } catch {
    // It ended while we looked.
    return undefined;
  }
}

/** Processor time so far, in ms, of the programs of one name that this process has started, and of their children. */
export function processorMsOf(name: string): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .flatMap((entry) => {
        const found = readProcess(entry);
        return found === undefined ? [] : [[Number(entry), found] as const];
      }),
  );
  const isOurs = (pid: number): boolean => {
    if (pid === process.pid) return true;
    const parent = all.get(pid)?.parent;
    return parent !== undefined && parent !== 0 && isOurs(parent);
  };
  return [...all]
    .filter(([pid, found]) => found.name.startsWith(name) && isOurs(pid))
    .reduce((sum, [, { ms }]) => sum + ms, 0);
}

/** Processor time, in ms, of all programs that this process has started and that have ended. */
export function childrenMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}
