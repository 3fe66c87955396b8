import { mkdir } from 'node:fs/promises';
import type { BlockStores } from '@svc/block';
import type { Engine } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import { signingSecret, storeSettings } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { observeCache, observeTasks } from '../metrics/observe-engine.ts';
import type { FoundationOptions } from './foundation.ts';
import { shareOf } from './store-configs.ts';

interface EngineParts {
  readonly kv: KvStore;
  readonly blocks: BlockStores;
  readonly installationId: () => Promise<string>;
  /** This process alone keeps the cache folder within its size. */
  readonly evicts: boolean;
}

/** The engine over the opened stores, with this process's part of the caches. */
export async function buildEngine(options: FoundationOptions, parts: EngineParts): Promise<Engine> {
  const { config, processes, metrics } = options;
  const { createCommittedTrees, createEngine } = await import('@svc/engine');
  const { graveler, committed, ugc } = config;
  const cache = committed.local_cache;
  // Ranges name every object, so the folder is for its owner only.
  await mkdir(cache.dir, { recursive: true, mode: 0o700 });
  const trees = await createCommittedTrees({
    blockStores: parts.blocks,
    cacheDir: cache.dir,
    cacheSizeBytes: cache.size_bytes,
    rangeProportion: cache.range_proportion,
    metarangeProportion: cache.metarange_proportion,
    memoryCacheBytes: Math.floor(
      committed.sstable.memory.cache_size_bytes * (options.blockMemoryShare ?? 1 / processes),
    ),
    // Not divided: every process reads all trees, and with fewer than a tree has ranges it opens tables again and again.
    openRanges: cache.range.open_readers,
    openMetaRanges: cache.metarange.open_readers,
    minRangeSize: committed.permanent.min_range_size_bytes,
    maxRangeSize: committed.permanent.max_range_size_bytes,
    raggedness: committed.permanent.range_raggedness_entries,
    evict: parts.evicts,
    cacheObserver: metrics === undefined ? undefined : observeCache(metrics),
    onDamage: (damage) => {
      metrics?.damagedTables.inc({ kind: damage.kind });
      options.logger.error(damage, `a ${damage.kind} is damaged; "svc verify" lists what it concerns`);
    },
  });
  const engine = createEngine({
    kv: parts.kv,
    blockStores: parts.blocks,
    trees,
    cacheBus: options.cacheBus,
    signingSecret: signingSecret(config),
    settings: {
      metadataPrefix: committed.block_storage_prefix,
      ensureReadableRootNamespace: graveler.ensure_readable_root_namespace,
      maxBatchDelayMs: graveler.max_batch_delay,
      backgroundRateLimit: graveler.background.rate_limit,
      repositoryCache: cacheShare(graveler.reposiory_cache, processes),
      commitCache: cacheShare(graveler.commit_cache, processes),
      ugcPrepareMaxFileSize: ugc.prepare_max_file_size,
      ugcPrepareIntervalMs: ugc.prepare_interval,
      requiredRegion: requiredRegion(config),
      installationId: parts.installationId,
    },
    logger: options.logger,
    onRetry: (operation) => metrics?.kvRetries.inc({ operation }),
    taskObserver: metrics === undefined ? undefined : observeTasks(metrics),
  });
  return {
    ...engine,
    async close() {
      await engine.close();
      await trees.close();
    },
  };
}

type CacheSettings = Config['graveler']['commit_cache'] | Config['graveler']['reposiory_cache'];

function cacheShare(cache: CacheSettings, processes: number) {
  return { size: shareOf(cache.size, processes), ttlMs: cache.ttl, jitterMs: cache.jitter };
}

function requiredRegion(config: Config): string | undefined {
  if (config.installation.allow_inter_region_storage) return undefined;
  return storeSettings(config).find((store) => store.type === 's3')?.s3.region;
}
