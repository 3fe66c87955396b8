import type { Config } from '../config/index.ts';
import { errorText } from '../logging/index.ts';

interface SystemError extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly path?: string;
}

/** What an operator should do about an error that keeps the server from starting, as one sentence. */
export function describeStartError(error: unknown, config: Pick<Config, 'listen_address'>): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall, path } = error as SystemError;
  const address = config.listen_address;
  if (syscall === 'listen' || syscall === 'bind') {
    if (code === 'EADDRINUSE') {
      return `cannot listen on ${address}: the port is in use; stop the program that uses it, or choose another with SVC_LISTEN_ADDRESS=127.0.0.1:8001`;
    }
    if (code === 'EACCES') {
      return `cannot listen on ${address}: this user may not use that port; choose one above 1023 in listen_address`;
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      return `cannot listen on ${address}: this machine has no such address; correct listen_address`;
    }
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return `no space left${path === undefined ? '' : ` at ${path}`}: free some space, or choose another disk in the configuration (database.local.path, blockstore.local.path, committed.local_cache.dir)`;
  }
  if ((code === 'EACCES' || code === 'EPERM' || code === 'EROFS') && path !== undefined) {
    return `cannot write to ${path}: permission denied; give this user the right to write there, or choose another folder in the configuration`;
  }
  return errorText(error);
}

/** Signals that a process gets for memory that is not there, such as pages a damaged file promises. */
const memorySignals: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS']);

/** What probably ended a process, as the continuation of a sentence; empty when nothing is known. */
export function probableCause(signal: string | null, { database }: Pick<Config, 'database'>): string {
  if (signal === null || !memorySignals.has(signal) || database.type !== 'local') return '';
  return (
    `; probably the key-value store in ${database.local.path} is damaged: look at the disk and at the system log, ` +
    'and restore the folder from a backup'
  );
}
