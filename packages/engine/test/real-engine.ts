import { join } from 'node:path';
import { openBlockStores } from '@svc/block';
import { LocalCacheBus, openStore, type KvStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { openEngine } from '../src/open-engine.ts';

export interface RealEngine {
  readonly engine: Engine;
  close(): Promise<void>;
}

/** One open table, hardly any memory and disk to cache in, and small ranges: every read opens and closes something. */
const scarce = { openRanges: 1, memoryCacheBytes: 1000, cacheSizeBytes: 10_000, maxRangeSize: 600 };

/** An engine on the local disk, as a server of one process has it. `kv` replaces the local store. */
export async function openRealEngine(
  folder: string,
  options: { kv?: KvStore; worker?: boolean; evict?: boolean; scarce?: boolean } = {},
): Promise<RealEngine> {
  const kv = options.kv ?? (await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true }));
  const blockStores = await openBlockStores([
    {
      type: 'local',
      path: join(folder, 'objects'),
      importEnabled: true,
      allowedExternalPrefixes: [join(folder, 'outside')],
    },
  ]);
  const { engine } = await openEngine({
    kv,
    blockStores,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret-key',
    cacheDir: join(folder, 'cache'),
    treeSettings: {
      ...(options.scarce === true && scarce),
      evict: options.evict ?? true,
      worker: options.worker,
    },
  });
  return {
    engine,
    close: async () => {
      await engine.close();
      await blockStores.close();
      await kv.close();
    },
  };
}
