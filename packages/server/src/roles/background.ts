import type { Auth } from '@svc/auth';
import type { OpenEngine } from '../compose/engine.ts';
import { openEngine } from '../compose/engine.ts';
import { openAuth, openBlocks, openKv } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import type { MetricsSnapshot } from '../metrics/aggregate.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { ExchangeCacheBus } from '../processes/exchange.ts';
import { askForAlerts } from '../stats/audit-service.ts';
import { auditInstallation } from '../stats/self-audit.ts';
import { isDevelopmentVersion, version } from '../version.ts';
import type { RoleContext, RunningRole } from './role.ts';

/** Its part of the memory for blocks: it reads trees once and in order, while requests come back to theirs. */
export const backgroundBlockMemory = 1 / 16;

/** The one process that does what no request asks for: expired work, audits, eviction. */
export async function startBackground(context: RoleContext): Promise<RunningRole> {
  const { config, logger, exchange } = context;
  const metrics = createMetrics();
  const cacheBus = new ExchangeCacheBus(exchange);
  const foundation: FoundationOptions = {
    config,
    logger,
    cacheBus,
    processes: context.workers + 1,
    metrics,
    blockMemoryShare: backgroundBlockMemory,
  };
  const kv = await openKv(foundation);
  const [auth, blocks] = await Promise.all([openAuth(foundation, kv), openBlocks(foundation)]);
  const installationId = (): Promise<string> => auth.installation.id();
  const engine = await openEngine(foundation, { kv, blocks, installationId, evicts: true });
  const snapshot = async (): Promise<MetricsSnapshot> => {
    const own = await metrics.registry.getMetricsAsJSON();
    exchange.rememberMetrics(own);
    return own;
  };
  exchange.answer('metrics', snapshot);
  const work = await startBackgroundWork(context, { auth, engine });
  return {
    setLevel: (level) => logger.setLevel(level),
    reloadTls() {},
    async stop() {
      await work.stop();
      await engine.close();
      auth.close();
      await blocks.close();
      await kv.close();
    },
  };
}

interface Work {
  stop(): Promise<void>;
}

/** Starts the jobs of a server; exactly one of its processes does. */
export async function startBackgroundWork(
  context: RoleContext,
  parts: { readonly auth: Auth; readonly engine: OpenEngine },
): Promise<Work> {
  parts.engine.engine.startJobs();
  const audit = async (): Promise<void> => {
    await selfAudit(context, parts.auth).catch((error: unknown) =>
      context.logger.debug({ error }, 'the self-audit did not finish'),
    );
  };
  const timer = setInterval(
    () => void audit(),
    Math.min(context.config.security.audit_check_interval, 2 ** 31 - 1),
  );
  timer.unref();
  let auditing = audit();
  return {
    async stop() {
      clearInterval(timer);
      await auditing;
      auditing = Promise.resolve();
    },
  };
}

async function selfAudit(context: RoleContext, auth: Auth): Promise<void> {
  const { config, logger, exchange } = context;
  const findings = await auditInstallation({
    config,
    hasAccessKey: async (accessKeyId) => (await auth.credentialsFor(accessKeyId)) !== undefined,
  });
  const level = context.trial ? 'debug' : 'warn';
  for (const finding of findings)
    logger[level]({ finding: finding.id }, `security audit: ${finding.description}`);
  if (config.security.audit_check_url === '' || isDevelopmentVersion(version)) return;
  const alerts = await askForAlerts({
    url: config.security.audit_check_url,
    version,
    installationId: await auth.installation.id(),
    logger,
  });
  if (alerts !== undefined) await exchange.askOthers('alerts', alerts);
}
