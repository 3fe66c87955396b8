import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBlockStores } from '@svc/block';
import { LocalCacheBus, openStore, type KvStore } from '@svc/kv';
import { createCommittedTrees } from '../src/committed/committed-trees.ts';
import { createEngine, type Engine } from '../src/engine.ts';

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
  mkdirSync(join(folder, 'cache'), { recursive: true });
  const kv = options.kv ?? (await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true }));
  const blockStores = await openBlockStores([
    {
      type: 'local',
      path: join(folder, 'objects'),
      importEnabled: true,
      allowedExternalPrefixes: [join(folder, 'outside')],
    },
  ]);
  const trees = await createCommittedTrees({
    blockStores,
    cacheDir: join(folder, 'cache'),
    cacheSizeBytes: 1024 ** 3,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 200_000_000,
    minRangeSize: 0,
    maxRangeSize: 20 * 1024 * 1024,
    raggedness: 50_000,
    ...(options.scarce === true && scarce),
    evict: options.evict ?? true,
    worker: options.worker,
  });
  const engine = createEngine({
    kv,
    blockStores,
    trees,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret-key',
  });
  return {
    engine,
    close: async () => {
      await engine.close();
      await trees.close();
      await blockStores.close();
      await kv.close();
    },
  };
}
