import { mkdir } from 'node:fs/promises';
import { createCommittedTrees, type CommittedTreesOptions } from './committed/committed-trees.ts';
import type { CommittedTrees } from './committed/tree.ts';
import { createEngine, type Engine } from './engine.ts';
import type { EngineOptions } from './face/options.ts';

/** How trees are kept unless the caller says otherwise: a server of one process with the default configuration. */
const defaultTreeSettings = {
  cacheSizeBytes: 1024 ** 3,
  rangeProportion: 0.9,
  metarangeProportion: 0.1,
  memoryCacheBytes: 200_000_000,
  minRangeSize: 0,
  maxRangeSize: 20 * 1024 ** 2,
  raggedness: 50_000,
  evict: true,
} satisfies Partial<CommittedTreesOptions>;

type TreeSettings = Omit<CommittedTreesOptions, 'blockStores' | 'cacheDir'>;

export interface OpenEngineOptions extends Omit<EngineOptions, 'trees'> {
  /** Made when missing. */
  readonly cacheDir: string;
  readonly treeSettings?: Partial<TreeSettings> | undefined;
}

export interface OpenedEngine {
  /** Closing it closes the trees as well, the stores stay open. */
  readonly engine: Engine;
  readonly trees: CommittedTrees;
}

/** The engine with its trees over the given stores, put together as a server has it. */
export async function openEngine(options: OpenEngineOptions): Promise<OpenedEngine> {
  const { cacheDir, treeSettings, ...engineOptions } = options;
  // Ranges name every object, so the folder is for its owner only.
  await mkdir(cacheDir, { recursive: true, mode: 0o700 });
  const trees = await createCommittedTrees({
    ...defaultTreeSettings,
    ...treeSettings,
    blockStores: options.blockStores,
    cacheDir,
  });
  const engine = createEngine({ ...engineOptions, trees });
  const close = async (): Promise<void> => {
    await engine.close();
    await trees.close();
  };
  return { engine: { ...engine, close }, trees };
}
