import { BlockStores } from '@svc/block';
import { createTestAdapter } from '@svc/block/named-store';
import { openEngine } from '@svc/engine';
import type { Engine } from '@svc/engine';
import type { CacheBus, KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';

/** The engine as it is, over stores in memory, or over the object store that a run names. */
export function memEngine(kv: KvStore, cacheBus: CacheBus): Promise<Engine> {
  return engineOver(new BlockStores([createTestAdapter()]), kv, cacheBus);
}

export async function engineOver(blockStores: BlockStores, kv: KvStore, cacheBus: CacheBus): Promise<Engine> {
  const { engine } = await openEngine({
    kv,
    blockStores,
    cacheBus,
    signingSecret: 'a secret of the tests',
    cacheDir: tempDir(),
    treeSettings: { worker: false },
  });
  return engine;
}
