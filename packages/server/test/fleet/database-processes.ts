import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningServer } from '@svc/testing';
import { childrenOf } from '../children-of.ts';

/** All processes of a PostgreSQL server. */
export function databaseProcesses({ address }: RunningServer): number[] {
  const [first = ''] = readFileSync(join(address['data'] ?? '', 'postmaster.pid'), 'utf8').split('\n');
  const postmaster = Number(first);
  return [postmaster, ...childrenOf(postmaster)];
}

/** Those that serve one connection each. */
export function connectionProcesses(postgres: RunningServer): number[] {
  return databaseProcesses(postgres).filter((pid) => {
    try {
      // `postgres: USER DATABASE ADDRESS(PORT) STATE`
      return /^postgres: \S+ \S+ 127\.0\.0\.1\(/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    } catch {
      return false;
    }
  });
}

/** The process may be gone already. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Nobody is left to be told.
  }
}
