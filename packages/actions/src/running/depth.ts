import { AsyncLocalStorage } from 'node:async_hooks';

const store = new AsyncLocalStorage<number>();

/** A hook may call the service, which may run hooks, and so on: no deeper than this. */
export const maxDepth = 8;

/** Runs what a hook asked for, so that events it causes know how deep they are. */
export function atDepth<Result>(depth: number, work: () => Result): Result {
  return store.run(depth, work);
}

export function currentDepth(): number {
  return store.getStore() ?? 0;
}
