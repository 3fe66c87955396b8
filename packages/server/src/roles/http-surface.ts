import type { ActionHooks } from '@svc/actions';
import { AuditLog, type AuditWriter, type Auth } from '@svc/auth';
import { createApi, openApiJson } from '@svc/api';
import type { EventsOptions, InstallationFacts } from '@svc/api';
import type { BlockStores } from '@svc/block';
import { createGateway, type CorsRules } from '@svc/gateway';
import type { KvStore } from '@svc/kv';
import type { RequestListener } from 'node:http';
import type { ProcessEngine } from '../compose/engine.ts';
import { installationFacts } from '../compose/installation-facts.ts';
import { storeOrigins } from '../compose/store-origins.ts';
import type { Config } from '../config/index.ts';
import { createAccessLog } from '../http/access-log.ts';
import { createBodyMemory } from '../http/body-memory.ts';
import { createDocs, docsFolder } from '../http/docs-files.ts';
import type { TlsPair } from '../http/listener.ts';
import { observeApi, observeGateway } from '../http/observers.ts';
import { lazyAppendTable, lazyIceberg } from '../http/lazy-iceberg.ts';
import { lazyScim } from '../http/lazy-scim.ts';
import { RequestAudit } from '../http/request-audit.ts';
import { createPages, placeholderDocs, placeholderUi } from '../http/pages.ts';
import { createSessionPages } from '../http/session-pages.ts';
import { createUi, uiFolder } from '../http/ui-files.ts';
import { createSurface } from '../http/surface.ts';
import type { Surface } from '../http/surface.ts';
import { renderMetrics } from '../metrics/aggregate.ts';
import type { MetricsSnapshot } from '../metrics/aggregate.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Statistics } from '../stats/statistics.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { version } from '../version.ts';
import type { RoleContext } from './role.ts';

interface SurfaceParts {
  readonly kv: KvStore;
  readonly auth: Auth;
  readonly blocks: BlockStores;
  readonly engine: ProcessEngine;
  readonly actions: ActionHooks;
  readonly events: EventsOptions;
  readonly metrics: Metrics;
  readonly statistics: Statistics;
  /** Absent while the audit log is switched off. */
  readonly auditWriter: AuditWriter | undefined;
  readonly installationId: string;
  readonly tls: TlsPair | undefined;
  /** Only where traces are configured. */
  readonly tracer: Tracer | undefined;
}

/** Undefined where no origin is allowed anything. */
function corsRulesOf({
  origins,
  methods,
  headers,
  exposed,
  max_age,
}: Config['gateways']['s3']['cors']): CorsRules | undefined {
  if (origins.length === 0) return undefined;
  return { origins, methods, headers, exposed, maxAgeSeconds: Math.floor(max_age / 1000) };
}

function userInterface(config: Config): RequestListener {
  const folder = uiFolder();
  return folder === undefined ? placeholderUi : createUi({ folder, storeOrigins: storeOrigins(config) });
}

/** Looked for until it is there: in a clone it may be built while the server runs. */
function documentation(): RequestListener {
  let built: RequestListener | undefined;
  return (request, response) => {
    const folder = built === undefined ? docsFolder() : undefined;
    if (folder !== undefined) built = createDocs(folder);
    (built ?? placeholderDocs)(request, response);
  };
}

/** Everything a worker answers on its listener, from the parts it has opened. */
export async function buildSurface(context: RoleContext, parts: SurfaceParts): Promise<Surface> {
  const { config, logger, exchange } = context;
  const { kv, auth, blocks, engine, actions, metrics, statistics, installationId, tls, tracer } = parts;
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
  exchange.answer('flush-usage', () => engine.usage.flush());

  const facts = installationFacts(config, blocks);
  const accessLog = createAccessLog({
    logger,
    auditLevel: config.logging.audit_log_level,
    traceRequestHeaders: config.logging.trace_request_headers,
  });
  const sharedEngine = await engine.shared(exchange);
  const bodyMemory = createBodyMemory();
  const { objects, reads } = config.audit;
  const audit =
    parts.auditWriter === undefined ? undefined : new RequestAudit(parts.auditWriter, { objects, reads });
  const observing = { logger, metrics, statistics, accessLog, audit };
  const apiObserver = tracer?.nameApi(observeApi(observing)) ?? observeApi(observing);
  const gatewayObserver = tracer?.nameGateway(observeGateway(observing)) ?? observeGateway(observing);
  const surface = createSurface({
    tls,
    around: tracer?.serve,
    traces: () => logger.isEnabled('TRACE'),
    api: createApi({
      engine: sharedEngine,
      auth,
      actions,
      events: parts.events,
      audit: config.audit.enabled ? new AuditLog(kv) : undefined,
      installation: () => ({ ...facts, ...alerts }),
      observer: apiObserver,
      appendTable: lazyAppendTable(engine),
      bodyMemory,
    }),
    gateway: createGateway({
      engine,
      auth,
      domains: config.gateways.s3.domain_name,
      region: config.gateways.s3.region,
      verifyUnsupported: config.gateways.s3.verify_unsupported,
      fallbackUrl: config.gateways.s3.fallback_url,
      cors: corsRulesOf(config.gateways.s3.cors),
      logger,
      observer: gatewayObserver,
      bodyMemory: bodyMemory.callers,
    }),
    iceberg: lazyIceberg(() => ({
      engine,
      auth,
      region: config.gateways.s3.region,
      observer: apiObserver,
      bodyMemory,
    })),
    scim:
      auth.provisioning === undefined
        ? undefined
        : lazyScim({
            auth,
            directory: auth.provisioning,
            observer: apiObserver,
            bodyMemory: bodyMemory.callers,
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
      session: createSessionPages(auth, config.auth.logout_redirect_url, logger),
      ui: config.ui.enabled ? userInterface(config) : undefined,
      docs: config.ui.enabled ? documentation() : undefined,
    }),
  });
  return surface;
}
