import { AuditWriter } from '@svc/auth';
import { bindHooks } from '../compose/bind-hooks.ts';
import { openProcessEngine } from '../compose/engine.ts';
import { openAuth, openBlocks, openKv, openTracing } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import {
  EventReaders,
  isSharedStore,
  OutboxHints,
  startKeeper,
  type RunningKeeper,
} from '../compose/events.ts';
import { openHooks } from '../compose/hooks.ts';
import { installationFacts } from '../compose/installation-facts.ts';
import { openIdentitySources } from '../compose/identity-sources.ts';
import { prepareInstallation } from '../compose/prepare.ts';
import { checkSchemaVersion } from '../compose/schema-version.ts';
import { unevenShareOf } from '../compose/store-configs.ts';
import { readTlsPair } from '../http/tls.ts';
import { JobRunner } from '../jobs/job-runner.ts';
import { processJobs, serverJobs } from '../jobs/jobs.ts';
import { addRuntimeMetrics, createMetrics, resetMetrics } from '../metrics/metrics.ts';
import { ExchangeCacheBus } from '../processes/exchange.ts';
import { openStatistics } from '../stats/open-statistics.ts';
import { backgroundBlockMemory } from './background.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** How long requests in flight may take to finish when the server stops. */
const drainLimitMs = 30_000;

/** An HTTP worker: opens the stores, serves API, gateway and pages until it is told to stop. */
export async function startHttp(context: RoleContext): Promise<RunningRole> {
  const { config, logger, exchange } = context;
  const metrics = createMetrics();
  const cacheBus = new ExchangeCacheBus(exchange);
  // The background process opens the stores as well.
  const processes = context.worksAlone ? 1 : context.workers + 1;
  const blockMemoryShare = context.worksAlone ? 1 : (1 - backgroundBlockMemory) / context.workers;
  const tracing = await openTracing(config, logger, metrics);
  const foundation: FoundationOptions = {
    config,
    logger,
    cacheBus,
    rootKey: context.rootKey,
    processes,
    metrics,
    blockMemoryShare,
    tracing,
  };
  const tls = config.tls.enabled ? readTlsPair(config.tls) : undefined;

  // The primary takes a tenth of a second to derive the keys: meanwhile this process opens the rest.
  let keeper: RunningKeeper | undefined;
  const hints = new OutboxHints(isSharedStore(config.database), (partitions) => {
    if (context.worksAlone) keeper?.hint(partitions);
    else exchange.tell('background', 'outbox-filled', partitions);
  });
  const openingKv = openKv(foundation, hints.changed);
  const opening = openIdentitySources(config, logger).then((sources) =>
    openAuth(foundation, openingKv, sources),
  );
  // Reported below, where it is waited for.
  opening.catch(() => {});
  const kv = await openingKv;
  if (context.prepares) {
    await checkSchemaVersion(kv);
    context.reached('prepared');
  }
  const [auth, { blocks, engine, hooks }, { buildSurface }, { warmUp, warmUpFurther }] = await Promise.all([
    opening,
    openBlocks(foundation).then(async (blocks) => {
      const installationId = async (): Promise<string> => (await opening).installation.id();
      const hooks = await openHooks(foundation, {
        kv,
        blocks,
        // Events that are over are the background process's.
        onQueued: (queue) =>
          context.worksAlone
            ? void hooks.actions.runQueued(queue)
            : exchange.tell('background', 'hooks-queued', queue),
      });
      const engine = await openProcessEngine(foundation, {
        kv,
        blocks,
        installationId,
        hooks: hooks.points,
        exchange,
        evicts: context.worksAlone,
      });
      return { blocks, engine, hooks };
    }),
    import('./http-surface.ts'),
    import('../http/warm-up.ts'),
  ]);
  await bindHooks(context, { hooks, engine, auth, blocks });
  if (context.prepares) {
    await prepareInstallation({ config, auth, blocks, logger });
    if (!context.allowMismatchedRepositories) await engine.checkRepositories();
  }
  const installationId = await auth.installation.id();
  const statistics = openStatistics({ config, logger, metrics, installationId });
  const { EventLog, EventStreams } = await import('@svc/events');
  const log = new EventLog(kv);
  const readers = new EventReaders(async () => {
    if (!context.worksAlone) return (await exchange.askOthers('follow-events')).includes(true);
    await keeper?.follow();
    return keeper !== undefined;
  });
  const streams = new EventStreams({
    log,
    installationId,
    maxStreams: unevenShareOf(config.events.max_streams, context.workers),
    isShared: isSharedStore(kv),
    onFollowed: () => void readers.follow(),
  });
  const { openDeliveries, openSubscriptions } = await import('../compose/webhooks.ts');
  const webhookParts = { config, kv, auth, engine, logger, metrics, installationId };
  const deliveries = context.worksAlone ? openDeliveries(webhookParts) : undefined;
  const subscriptions = openSubscriptions(webhookParts, () => {
    if (context.worksAlone) deliveries?.wake();
    else exchange.tell('background', 'subscriptions-changed');
  });
  metrics.countEventStreams(() => streams.open);
  exchange.hear('events-appended', (next) => streams.told(next as number));
  const auditWriter = config.audit.enabled ? new AuditWriter({ kv, logger }) : undefined;
  const surface = await buildSurface(context, {
    kv,
    events: { log, streams, subscriptions, installationId, follow: readers.follow },
    auth,
    blocks,
    engine,
    actions: hooks.actions,
    metrics,
    statistics,
    auditWriter,
    installationId,
    tls,
    tracer: tracing?.tracer,
  });
  const facts = installationFacts(config, blocks);
  let furtherWarmUp: ReturnType<typeof warmUpFurther> | undefined;
  const warming = { engine, auth, installation: () => facts };
  await warmUp(warming);
  resetMetrics(metrics);
  context.reached('opened');
  const { host, port } = await context.listen;
  surface.hold();
  const address = await surface.listen(host, port);
  addRuntimeMetrics(metrics);
  const jobs = new JobRunner({ kv, logger });
  jobs.start(processJobs(context, engine));
  if (context.worksAlone) {
    jobs.start(serverJobs(context, { kv, auth, engine, hooks }));
    const onAppended = (next: number): void => streams.told(next);
    keeper = await startKeeper({ kv, engine, logger, exchange, metrics, deliveries, onAppended });
  }

  return {
    address: { host, port: address.port },
    serve() {
      surface.release();
      furtherWarmUp = warmUpFurther({
        ...warming,
        arrivals: () => surface.arrivals,
        workers: context.workers,
      });
    },
    setLevel: (level) => logger.setLevel(level),
    reloadTls() {
      try {
        surface.useTls(readTlsPair(config.tls));
        logger.info({}, 'TLS certificate reloaded');
      } catch (error) {
        logger.error({ error }, 'the changed TLS files cannot be used; the old ones stay');
      }
    },
    async stop() {
      await furtherWarmUp?.stop();
      streams.close();
      if (!(await surface.drain(drainLimitMs)))
        logger.warn({}, 'some requests were still running after 30 s');
      await auditWriter?.close();
      await jobs.stop();
      await statistics.close();
      await keeper?.close();
      await hooks.close();
      await engine.close();
      auth.close();
      await blocks.close();
      await kv.close();
      await tracing?.close();
    },
  };
}
