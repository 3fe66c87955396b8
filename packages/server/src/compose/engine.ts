import { join } from 'node:path';
import type { BlockStores } from '@svc/block';
import type { Engine, HookPoints } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import { signingSecret, storeSettings } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { observeCache, observeCollector, observeRefs, observeTasks } from '../metrics/observe-engine.ts';
import { handOverLongTasks } from '../jobs/long-tasks.ts';
import type { Exchange } from '../processes/exchange.ts';
import { differenceNews } from './difference-news.ts';
import type { FoundationOptions } from './foundation.ts';
import { findMismatchedRepositories } from './repository-check.ts';
import { shareOf } from './store-configs.ts';

const dayMs = 24 * 3_600_000;

interface EngineParts {
  readonly kv: KvStore;
  readonly blocks: BlockStores;
  readonly installationId: () => Promise<string>;
  readonly hooks?: HookPoints | undefined;
  /** To the other processes. */
  readonly exchange: Exchange;
  /** This process alone keeps the cache folder within its size. */
  readonly evicts: boolean;
}

/** The engine of this process, with the parts of it that the server looks after. */
export interface ProcessEngine extends Engine {
  /** The same engine, whose usage counters are flushed in all processes and whose long tasks run in the background one. */
  shared(exchange: Exchange): Promise<Engine>;
  /** Throws when a repository lies on a store that is not configured, or on one of another type. */
  checkRepositories(): Promise<void>;
}

/** The engine as configured, over the opened stores, with this process's part of the caches. */
export async function openProcessEngine(
  options: FoundationOptions,
  parts: EngineParts,
): Promise<ProcessEngine> {
  const { config, logger } = options;
  const configured = await openConfigured(options, parts);
  const opened = options.tracing?.traceEngine(configured) ?? configured;
  const engine = config.usage_report.enabled ? opened : { ...opened, usage: silentUsage(opened.usage) };
  return {
    ...engine,
    shared: async (exchange) => ({
      ...(await handOverLongTasks(exchange, engine)),
      usage: {
        record: (count) => engine.usage.record(count),
        async flush() {
          await Promise.all([engine.usage.flush(), exchange.askOthers('flush-usage')]);
        },
        reports: () => engine.usage.reports(),
      },
    }),
    async checkRepositories() {
      const problems = await findMismatchedRepositories(engine, parts.blocks);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
    async close() {
      await engine
        .close()
        .catch((error: unknown) => logger.warn({ error }, 'the engine did not close cleanly'));
    },
  };
}

/** Stored counts stay visible, nothing new is counted. */
export function silentUsage(usage: Engine['usage']): Engine['usage'] {
  return { record() {}, flush: () => Promise.resolve(), reports: () => usage.reports() };
}

async function openConfigured(options: FoundationOptions, parts: EngineParts): Promise<Engine> {
  const { config, processes, metrics } = options;
  const { openEngine } = await import('@svc/engine');
  const { graveler, committed, reflog, gc, ugc } = config;
  const cache = committed.local_cache;
  const { engine } = await openEngine({
    kv: parts.kv,
    blockStores: parts.blocks,
    cacheDir: cache.dir,
    treeSettings: {
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
      differenceNews: differenceNews(parts.exchange),
      cacheObserver: metrics === undefined ? undefined : observeCache(metrics),
      onDamage: (damage) => {
        metrics?.damagedTables.inc({ kind: damage.kind });
        options.logger.error(damage, `a ${damage.kind} is damaged; "svc verify" lists what it concerns`);
      },
    },
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
      gc: {
        enabled: gc.enabled,
        intervalMs: gc.interval,
        // An address may be linked for a day; whoever wants less has to say that this is a test.
        graceMs: gc.short_grace_test_only ? gc.grace_period : Math.max(gc.grace_period, dayMs),
        quarantineMs: gc.quarantine,
        metadata: gc.metadata,
        danglingCommitsMs: gc.dangling_commits,
        maxPercent: gc.max_percent,
        deletesPerSecond: gc.deletes_per_second,
        listsPerSecond: gc.lists_per_second,
        memoryBytes: gc.memory_bytes,
        cpuPercent: gc.cpu_percent,
        folder: gc.cache_dir === '' ? join(cache.dir, 'gc') : gc.cache_dir,
        cacheSizeBytes: gc.cache_size_bytes,
        reportRetentionMs: gc.report_retention,
      },
      reflogRetentionMs: reflog.retention,
      reflogHiddenRetentionMs: reflog.hidden_retention,
      requiredRegion: requiredRegion(config),
      installationId: parts.installationId,
    },
    hooks: parts.hooks,
    logger: options.logger,
    onRetry: (operation) => metrics?.kvRetries.inc({ operation }),
    taskObserver: metrics === undefined ? undefined : observeTasks(metrics),
    collectorObserver: metrics === undefined ? undefined : observeCollector(metrics),
    refObserver: metrics === undefined ? undefined : observeRefs(metrics),
    onCollectorWait: (seconds) => metrics?.gcWriterWait.observe(seconds),
  });
  return engine;
}

type CacheSettings = Config['graveler']['commit_cache'] | Config['graveler']['reposiory_cache'];

function cacheShare(cache: CacheSettings, processes: number) {
  return { size: shareOf(cache.size, processes), ttlMs: cache.ttl, jitterMs: cache.jitter };
}

function requiredRegion(config: Config): string | undefined {
  if (config.installation.allow_inter_region_storage) return undefined;
  return storeSettings(config).find((store) => store.type === 's3')?.s3.region;
}
