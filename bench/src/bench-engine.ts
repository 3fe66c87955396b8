import { openBlockStores } from '@svc/block';
import { openEngine, type CommittedTrees, type Engine } from '@svc/engine';
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
  const kv = await openStore({ type: 'local', path: stores.metadata, syncWrites: true });
  const { allowedExternalPrefixes } = stores;
  const blockStores = await openBlockStores([{ type: 'local', path: stores.block, allowedExternalPrefixes }]);
  const { engine, trees } = await openEngine({
    kv,
    blockStores,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'bench',
    cacheDir: stores.cache,
    // The trees that are measured must not be evicted.
    treeSettings: { cacheSizeBytes: 4 * 1024 ** 3 },
  });
  return {
    engine,
    trees,
    close: async () => {
      await engine.close();
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
  await engine.commits.create({ ...tree, mayUseEveryAddress: () => Promise.resolve(true) });
}
