import type { Engine } from '@svc/engine';

type Stub = (...parameters: never[]) => unknown;

/** Answers `group.method` for tests of the edge; a method nobody gave fails the test that calls it. */
export function stubEngine(methods: Readonly<Record<string, Stub>> = {}): Engine {
  const group = (name: string): object =>
    new Proxy(
      {},
      {
        get: (_target, method) => {
          const key = `${name}.${String(method)}`;
          if (key === 'usage.record') return () => undefined;
          const stub = methods[key];
          return (
            stub ??
            (() => {
              throw new Error(`the stub has no ${key}`);
            })
          );
        },
      },
    );
  return new Proxy({} as Engine, {
    get: (_target, name) => (name === 'close' ? () => Promise.resolve() : group(String(name))),
  });
}
