import { KvError } from '@svc/kv';
import { EngineError } from '../errors.ts';

type Methods = Record<string, (...args: never[]) => unknown>;

/** The same methods; a throttled store is refused in the engine's words. */
export function guarded<T extends object>(group: T): T {
  const methods = group as unknown as Methods;
  const result: Methods = {};
  for (const name of Object.keys(methods)) {
    const method = methods[name];
    if (method === undefined) continue;
    result[name] = (...args) => translated(method(...args));
  }
  return result as unknown as T;
}

function translated(outcome: unknown): unknown {
  if (!(outcome instanceof Promise)) return outcome;
  return outcome.catch((error: unknown) => {
    if (error instanceof KvError && error.kind === 'slow_down') {
      throw new EngineError('slow_down', 'Throughput exceeded. Slow down and retry', { cause: error });
    }
    throw error;
  });
}
