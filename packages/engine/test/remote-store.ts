import type { KvStore } from '@svc/kv';

/** A store that must be waited for. */
export function remote(kv: KvStore): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      if (name === 'valueAtOnce' || name === 'firstKeyAtOnce') return undefined;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** A store that must be waited for, and can read after a write in the same round trip. */
export function pipelining(kv: KvStore): KvStore {
  const waiting = remote(kv);
  const setThenGet: KvStore['setThenGet'] = async (write, partition, key) => {
    await kv.set(write.partition, write.key, write.value);
    return kv.get(partition, key);
  };
  return new Proxy(waiting, {
    get: (target, name) => (name === 'setThenGet' ? setThenGet : (Reflect.get(target, name) as unknown)),
  });
}
