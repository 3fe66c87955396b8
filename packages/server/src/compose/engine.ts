import type { BlockStores } from '@svc/block';
import type { Engine } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import type { FoundationOptions } from './foundation.ts';
import { buildEngine } from './build-engine.ts';
import { findMismatchedRepositories } from './repository-check.ts';

interface EngineParts {
  readonly kv: KvStore;
  readonly blocks: BlockStores;
  readonly installationId: () => Promise<string>;
  /** This process alone keeps the cache folder within its size. */
  readonly evicts: boolean;
}

/** The engine of this process, with the parts of it that the server looks after. */
export interface OpenEngine {
  readonly engine: Engine;
  /** The same engine; a flush of the usage counters also reaches the other processes. */
  shared(flushOthers: () => Promise<void>): Engine;
  flushUsageHere(): Promise<void>;
  /** Throws when a repository lies on a store that is not configured, or on one of another type. */
  checkRepositories(): Promise<void>;
  close(): Promise<void>;
}

export async function openEngine(options: FoundationOptions, parts: EngineParts): Promise<OpenEngine> {
  const { config, logger } = options;
  const built = await buildEngine(options, parts);
  const engine = config.usage_report.enabled ? built : { ...built, usage: silentUsage(built.usage) };
  const timer = flushRegularly(engine, config.usage_report.flush_interval, (error) =>
    logger.warn({ error }, 'usage counts could not be written; they are kept for the next time'),
  );
  return {
    engine,
    shared: (flushOthers) => ({
      ...engine,
      usage: {
        record: (count) => engine.usage.record(count),
        async flush() {
          await Promise.all([engine.usage.flush(), flushOthers()]);
        },
        reports: () => engine.usage.reports(),
      },
    }),
    flushUsageHere: () => engine.usage.flush(),
    async checkRepositories() {
      const problems = await findMismatchedRepositories(engine, parts.blocks);
      if (problems.length > 0) throw new Error(problems.join('\n'));
    },
    async close() {
      clearInterval(timer);
      await engine
        .close()
        .catch((error: unknown) => logger.warn({ error }, 'the engine did not close cleanly'));
    },
  };
}

/** Stored counts stay visible, nothing new is counted. */
function silentUsage(usage: Engine['usage']): Engine['usage'] {
  return { record() {}, flush: () => Promise.resolve(), reports: () => usage.reports() };
}

function flushRegularly(
  engine: Engine,
  intervalMs: number,
  onError: (error: unknown) => void,
): NodeJS.Timeout | undefined {
  if (intervalMs === 0) return undefined;
  return setInterval(() => {
    engine.usage.flush().catch(onError);
  }, intervalMs).unref();
}
