import { bindHooks } from '../compose/bind-hooks.ts';
import { openProcessEngine } from '../compose/engine.ts';
import { openAuth, openBlocks, openKv } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import { isSharedStore, OutboxHints, startKeeper, type RunningKeeper } from '../compose/events.ts';
import { openHooks } from '../compose/hooks.ts';
import { JobRunner } from '../jobs/job-runner.ts';
import { processJobs, serverJobs } from '../jobs/jobs.ts';
import { takeLongTasks } from '../jobs/long-tasks.ts';
import type { MetricsSnapshot } from '../metrics/aggregate.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { ExchangeCacheBus } from '../processes/exchange.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Its part of the memory for blocks: it reads trees once and in order, while requests come back to theirs. */
export const backgroundBlockMemory = 1 / 16;

/** The one process that does what no request waits for: long tasks, expired work, audits, eviction. */
export async function startBackground(context: RoleContext): Promise<RunningRole> {
  const { config, logger, exchange } = context;
  const metrics = createMetrics();
  const cacheBus = new ExchangeCacheBus(exchange);
  const foundation: FoundationOptions = {
    config,
    logger,
    cacheBus,
    rootKey: context.rootKey,
    processes: context.workers + 1,
    metrics,
    blockMemoryShare: backgroundBlockMemory,
  };
  let keeper: RunningKeeper | undefined;
  const hints = new OutboxHints(isSharedStore(config.database), (partitions) => keeper?.hint(partitions));
  const kv = await openKv(foundation, hints.changed);
  const [auth, blocks] = await Promise.all([openAuth(foundation, kv), openBlocks(foundation)]);
  const installationId = (): Promise<string> => auth.installation.id();
  const runQueued = (queue: unknown): void => void hooks.actions.runQueued(queue as string);
  const hooks = await openHooks(foundation, { kv, blocks, onQueued: runQueued });
  const engine = await openProcessEngine(foundation, {
    kv,
    blocks,
    installationId,
    hooks: hooks.points,
    exchange,
    evicts: true,
  });
  await bindHooks(context, { hooks, engine, auth, blocks });
  if (hooks.isEnabled) exchange.hear('hooks-queued', runQueued);
  const snapshot = async (): Promise<MetricsSnapshot> => {
    const own = await metrics.registry.getMetricsAsJSON();
    exchange.rememberMetrics(own);
    return own;
  };
  exchange.answer('metrics', snapshot);
  await takeLongTasks(exchange, engine);
  const jobs = new JobRunner({ kv, logger });
  jobs.start([...processJobs(context, engine), ...serverJobs(context, { kv, auth, engine, hooks })]);
  const { openDeliveries } = await import('../compose/webhooks.ts');
  const webhookParts = { config, kv, auth, engine, logger, metrics, installationId: await installationId() };
  const deliveries = openDeliveries(webhookParts);
  keeper = await startKeeper({ kv, engine, logger, exchange, metrics, deliveries });
  const running = keeper;
  return {
    serve() {},
    setLevel: (level) => logger.setLevel(level),
    reloadTls() {},
    async stop() {
      await jobs.stop();
      await running.close();
      await hooks.close();
      await engine.close();
      auth.close();
      await blocks.close();
      await kv.close();
    },
  };
}
