import { BlockStores, createMemAdapter } from '@svc/block';
import { createCommittedTrees, createEngine } from '@svc/engine';
import type { Engine } from '@svc/engine';
import type { CacheBus, KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';

/** The engine as it is, over stores in memory. */
export function memEngine(kv: KvStore, cacheBus: CacheBus): Promise<Engine> {
  return engineOver(new BlockStores([createMemAdapter({})]), kv, cacheBus);
}

export async function engineOver(blockStores: BlockStores, kv: KvStore, cacheBus: CacheBus): Promise<Engine> {
  const trees = await createCommittedTrees({
    blockStores,
    cacheDir: tempDir(),
    cacheSizeBytes: 100_000_000,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 50_000_000,
    minRangeSize: 0,
    maxRangeSize: 20 * 1024 * 1024,
    raggedness: 50_000,
    evict: true,
    worker: false,
  });
  const engine = createEngine({ kv, blockStores, trees, cacheBus, signingSecret: 'a secret of the tests' });
  return {
    ...engine,
    async close() {
      await engine.close();
      await trees.close();
    },
  };
}
