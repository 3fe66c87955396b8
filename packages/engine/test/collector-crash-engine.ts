import { join } from 'node:path';
import { BlockStores, openBlockStore, type BlockAdapter, type DeleteManyOptions } from '@svc/block';
import { LocalCacheBus, openStore } from '@svc/kv';
import { defaultSettings } from '../src/context/settings.ts';
import type { Engine } from '../src/engine.ts';
import { openEngine } from '../src/open-engine.ts';
import { day } from './gc-world.ts';

export interface CrashEngine {
  readonly engine: Engine;
  readonly collect: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface CrashEngineOptions {
  readonly folder: string;
  /** Milliseconds by which the clock is ahead. */
  readonly ahead?: number;
  /** Told of every call to a store, and of every object that is about to be deleted. */
  readonly onCall?: (name: string) => void;
}

/** An engine on the local disk whose waiting takes no time. */
export async function openCrashEngine(options: CrashEngineOptions): Promise<CrashEngine> {
  const { folder, ahead = 0, onCall = () => undefined } = options;
  const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: false });
  const store = await openBlockStore({ type: 'local', path: join(folder, 'objects') });
  let steady = 0;
  const { engine } = await openEngine({
    kv: counted(kv, onCall),
    blockStores: new BlockStores([deletingOneByOne(counted(store, onCall), onCall)]),
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret-key',
    cacheDir: join(folder, 'cache'),
    treeSettings: { worker: false },
    clock: () => Date.now() + ahead,
    steadyTime: {
      now: () => steady,
      rest: (milliseconds) => {
        steady += milliseconds;
        return Promise.resolve();
      },
    },
    settings: {
      gc: {
        ...defaultSettings.gc,
        cpuPercent: 100,
        maxPercent: 100,
        deletesPerSecond: 5,
        danglingCommitsMs: 3 * day,
        quarantineMs: day,
        folder: join(folder, 'gc'),
      },
    },
  });
  return {
    engine,
    collect: async () => {
      const job = engine.jobs.find(({ name }) => name === 'collect-garbage');
      await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
      steady += 61_000;
    },
    close: async () => {
      await engine.close();
      await store.close();
      await kv.close();
    },
  };
}

function counted<Store extends object>(store: Store, onCall: (name: string) => void): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        onCall(String(name));
        return (member as (...args: unknown[]) => unknown).apply(target, args);
      };
    },
  });
}

function deletingOneByOne(store: BlockAdapter, onCall: (name: string) => void): BlockAdapter {
  const deleteMany: BlockAdapter['deleteMany'] = (pointers, options: DeleteManyOptions = {}) =>
    store.deleteMany(pointers, {
      ...options,
      mayGoOn: () => {
        onCall('delete one');
        return options.mayGoOn?.() ?? true;
      },
    });
  return new Proxy(store, {
    get: (target, name) => (name === 'deleteMany' ? deleteMany : (Reflect.get(target, name) as unknown)),
  });
}
