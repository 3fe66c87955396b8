import { cancellable } from '../../cancel.ts';

/** Work that moves files: a signal stops it and leaves the marker that says so. */
export function syncing<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return cancellable('operation cancelled, local data may be incomplete', work);
}
