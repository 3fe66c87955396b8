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
