import { readFileSync, readdirSync } from 'node:fs';

/** Process ids of everything that a process has started, oldest first. */
export function childrenOf(parent: number): number[] {
  const pids: number[] = [];
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) pids.push(Number(entry));
    } catch {
      // The process ended while we looked.
    }
  }
  return pids.toSorted((a, b) => a - b);
}
