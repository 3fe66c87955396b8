import { createApi, openApiJson } from '@svc/api';
import type { InstallationFacts } from '@svc/api';
import { createGateway } from '@svc/gateway';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { openEngine } from '../compose/engine.ts';
import { openAuth, openBlocks, openKv } from '../compose/foundation.ts';
import type { FoundationOptions } from '../compose/foundation.ts';
import { installationFacts } from '../compose/installation-facts.ts';
import { prepareInstallation } from '../compose/prepare.ts';
import { createAccessLog } from '../http/access-log.ts';
import { observeApi, observeGateway } from '../http/observers.ts';
import { createPages, placeholderUi } from '../http/pages.ts';
import { createSurface } from '../http/surface.ts';
import { readTlsPair } from '../http/tls.ts';
import { renderMetrics } from '../metrics/aggregate.ts';
import type { MetricsSnapshot } from '../metrics/aggregate.ts';
import { addRuntimeMetrics, createMetrics } from '../metrics/metrics.ts';
import { ExchangeCacheBus } from '../processes/exchange.ts';
import { openStatistics } from '../stats/open-statistics.ts';
import { version } from '../version.ts';
import { startBackgroundWork } from './background.ts';
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
  const foundation: FoundationOptions = { config, logger, cacheBus, processes, metrics };
  const tls = config.tls.enabled ? readTlsPair(config.tls) : undefined;

  const kv = await openKv(foundation);
  const [auth, blocks] = await Promise.all([openAuth(foundation, kv), openBlocks(foundation)]);
  if (context.prepares) await prepareInstallation({ config, kv, auth, blocks, logger });
  const installationId = await auth.installation.id();
  const engine = await openEngine(foundation, { kv, blocks, installationId, evicts: context.worksAlone });
  const statistics = openStatistics({ config, logger, metrics, installationId });
  if (context.prepares && !context.allowMismatchedRepositories) await engine.checkRepositories();

  let alerts: Pick<InstallationFacts, 'upgradeRecommended' | 'upgradeUrl'> = {};
  exchange.answer('alerts', (payload) => {
    alerts = payload as typeof alerts;
  });
  const snapshot = async (): Promise<MetricsSnapshot> => {
    const own = await metrics.registry.getMetricsAsJSON();
    exchange.rememberMetrics(own);
    return own;
  };
  exchange.answer('metrics', snapshot);
  exchange.answer('flush-usage', () => engine.flushUsageHere());

  const facts = installationFacts(config, blocks);
  const accessLog = createAccessLog({
    logger,
    auditLevel: config.logging.audit_log_level,
    traceRequestHeaders: config.logging.trace_request_headers,
  });
  const observing = { logger, metrics, statistics, accessLog };
  const surface = await createSurface({
    tls,
    traces: () => logger.isEnabled('TRACE'),
    api: createApi({
      engine: engine.shared(async () => {
        await exchange.askOthers('flush-usage');
      }),
      auth,
      installation: () => ({ ...facts, ...alerts }),
      observer: observeApi(observing),
    }),
    gateway: createGateway({
      engine: engine.engine,
      auth,
      domains: config.gateways.s3.domain_name,
      region: config.gateways.s3.region,
      verifyUnsupported: config.gateways.s3.verify_unsupported,
      fallbackUrl: config.gateways.s3.fallback_url,
      logger,
      observer: observeGateway(observing),
    }),
    pages: createPages({
      draining: () => surface.draining,
      installationId: () => installationId,
      storeAnswers: async () => {
        await kv.get(Buffer.from('kv-internal-metadata'), Buffer.from('kv/schema/version'));
        return true;
      },
      async metrics() {
        const own = await snapshot();
        const others = (await exchange.askOthers('metrics')) as readonly MetricsSnapshot[];
        return renderMetrics([own, ...others]);
      },
      openApi: () => openApiJson(version),
      logout(request: IncomingMessage) {
        const socket = request.socket as Partial<TLSSocket>;
        const client = auth.clientOf(
          request.socket.remoteAddress ?? '',
          socket.encrypted === true,
          request.headers,
        );
        return { cookies: auth.logoutCookies(client), location: config.auth.logout_redirect_url };
      },
      ui: config.ui.enabled ? placeholderUi : undefined,
    }),
  });
  const { host } = context.listen;
  const address = await surface.listen(host, context.listen.port);
  addRuntimeMetrics(metrics);
  const background = context.worksAlone ? await startBackgroundWork(context, { auth, engine }) : undefined;

  return {
    address: { host, port: address.port },
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
      if (!(await surface.drain(drainLimitMs)))
        logger.warn({}, 'some requests were still running after 30 s');
      await background?.stop();
      await statistics.close();
      await engine.close();
      auth.close();
      await blocks.close();
      await kv.close();
    },
  };
}
