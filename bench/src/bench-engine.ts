import { mkdirSync } from 'node:fs';
import { openBlockStores } from '@svc/block';
import { createCommittedTrees, createEngine, type CommittedTrees, type Engine } from '@svc/engine';
import { LocalCacheBus, openStore } from '@svc/kv';
import { GeneratedRecords } from './generated-records.ts';

export interface BenchEngine {
  readonly engine: Engine;
  readonly trees: CommittedTrees;
  close(): Promise<void>;
}

interface Stores {
  readonly metadata: string;
  readonly block: string;
  readonly cache: string;
  readonly allowedExternalPrefixes: readonly string[];
}

/** The engine in this process, on local stores, with the default settings of a server. */
export async function openBenchEngine(stores: Stores): Promise<BenchEngine> {
  mkdirSync(stores.cache, { recursive: true });
  const kv = await openStore({ type: 'local', path: stores.metadata, syncWrites: true });
  const { allowedExternalPrefixes } = stores;
  const blockStores = await openBlockStores([{ type: 'local', path: stores.block, allowedExternalPrefixes }]);
  const trees = await createCommittedTrees({
    blockStores,
    cacheDir: stores.cache,
    cacheSizeBytes: 4 * 1024 ** 3,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 200_000_000,
    minRangeSize: 0,
    maxRangeSize: 20 * 1024 * 1024,
    raggedness: 50_000,
    evict: true,
  });
  const engine = createEngine({
    kv,
    blockStores,
    trees,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'bench',
  });
  return {
    engine,
    trees,
    close: async () => {
      await engine.close();
      await trees.close();
      await blockStores.close();
      await kv.close();
    },
  };
}

/** Creates a repository whose main branch holds that many objects, written as ranges: no file is made for any. */
export async function writeRepository(
  { engine, trees }: BenchEngine,
  { repository, objects }: { repository: string; objects: number },
): Promise<void> {
  const actor = { committer: 'bench' };
  const storageNamespace = `local://${repository}`;
  await engine.repositories.create({ name: repository, storageNamespace, actor });
  const { storageId, metadataPrefix } = await engine.repositories.get(repository);
  const context = { storageId, storageNamespace, metadataPrefix };
  const { metaRangeId } = await trees.write(context, new GeneratedRecords(objects));
  const tree = { repository, branch: 'main', message: 'tree', sourceMetaRange: metaRangeId, actor };
  await engine.commits.create(tree);
}
