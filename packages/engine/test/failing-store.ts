import type { KvEntry, KvGuard, KvPut, KvScanOptions, KvStore } from '@svc/kv';

/** A call of a store as a test sees it: which method, and the partition and key it is about. */
export interface StoreCall {
  readonly method: string;
  readonly partition: string;
  readonly key: string;
}

const watchedMethods = ['get', 'set', 'setThenGet', 'setIf', 'change', 'delete', 'deleteIf'];

/** A store that asks before every call and tells after it; either may throw in the call's place. */
export function watched(
  kv: KvStore,
  before: (call: StoreCall) => void | Promise<void>,
  after: (call: StoreCall) => void | Promise<void> = () => undefined,
): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const method = String(name);
      const call = member.bind(target) as (...args: unknown[]) => unknown;
      if (!watchedMethods.includes(method)) return call;
      return async (...args: [Uint8Array | KvPut, ...unknown[]]): Promise<unknown> => {
        const [first] = args;
        const { partition, key } =
          first instanceof Uint8Array
            ? {
                partition: first,
                key: method === 'change' ? (args[1] as KvGuard).key : (args[1] as Uint8Array),
              }
            : first;
        const seen = {
          method,
          partition: Buffer.from(partition).toString(),
          key: Buffer.from(key).toString(),
        };
        await before(seen);
        const result = await call(...args);
        await after(seen);
        return result;
      };
    },
  });
}

/** A store whose scans read one entry at a time, so that others come between any two; it tells of each. */
export function entryByEntry(
  kv: KvStore,
  onEntry: (key: string) => void | Promise<void> = () => undefined,
): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name !== 'scan') return typeof member === 'function' ? member.bind(target) : member;
      return async function* (partition: Uint8Array, options: KvScanOptions = {}): AsyncGenerator<KvEntry[]> {
        let { after } = options;
        for (;;) {
          const { value } = await target.scan(partition, { ...options, after, batch: 1 }).next();
          const entry = (value as KvEntry[] | undefined)?.[0];
          if (entry === undefined) return;
          await onEntry(entry.key.toString());
          yield [entry];
          after = entry.key;
        }
      };
    },
  });
}
