import type { KvStore } from '@svc/kv';

/** A process that is killed between two steps: from then on nothing it calls ever happens. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

/** Called around every call of the store; throwing before it makes it not happen. */
export type Step = (moment: 'before' | 'after') => Promise<void> | void;

/** The store as one process sees it, stopped or killed at every call. */
export function steppedKv(kv: KvStore, step: Step): KvStore {
  const stepped = async <T>(call: () => Promise<T>): Promise<T> => {
    await step('before');
    const answer = await call();
    await step('after');
    return answer;
  };
  return {
    type: kv.type,
    get: (...args) => stepped(() => kv.get(...args)),
    set: (...args) => stepped(() => kv.set(...args)),
    setIf: (...args) => stepped(() => kv.setIf(...args)),
    delete: (...args) => stepped(() => kv.delete(...args)),
    deleteIf: (...args) => stepped(() => kv.deleteIf(...args)),
    change: (...args) => stepped(() => kv.change(...args)),
    getMany: (...args) => stepped(() => kv.getMany(...args)),
    setMany: (...args) => stepped(() => kv.setMany(...args)),
    // Not one step: a crash may leave some of them.
    deleteMany: async (partition, keys) => {
      for (const key of keys) await stepped(() => kv.delete(partition, key));
    },
    maxKeyBytes: (partition) => kv.maxKeyBytes(partition),
    async *scan(...args) {
      const pages = kv.scan(...args);
      for (;;) {
        const page = await stepped(() => pages.next());
        if (page.done === true) return;
        yield page.value;
      }
    },
    partitions: () => kv.partitions(),
    close: () => kv.close(),
  };
}

/** Dies at the given moment and stays dead. */
export function killedAt(moment: number): { readonly step: Step; readonly wasReached: () => boolean } {
  let count = 0;
  return {
    step() {
      if (count >= moment) throw new Killed();
      count += 1;
    },
    wasReached: () => count >= moment,
  };
}

/** The store, with the name and the partition of every call written down. */
export function namedCalls(kv: KvStore, calls: string[]): KvStore {
  const noted =
    <Args extends [Uint8Array, ...unknown[]], Answer>(name: string, call: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      calls.push(`${name} ${Buffer.from(args[0]).toString()}`);
      return call(...args);
    };
  return {
    ...kv,
    get: noted('get', (...args: Parameters<KvStore['get']>) => kv.get(...args)),
    change: noted('change', (...args: Parameters<KvStore['change']>) => kv.change(...args)),
    getMany: noted('getMany', (...args: Parameters<KvStore['getMany']>) => kv.getMany(...args)),
    deleteMany: noted('deleteMany', (...args: Parameters<KvStore['deleteMany']>) => kv.deleteMany(...args)),
    scan: noted('scan', (...args: Parameters<KvStore['scan']>) => kv.scan(...args)),
  };
}
