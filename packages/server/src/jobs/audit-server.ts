import type { Auth } from '@svc/auth';
import type { Engine } from '@svc/engine';
import { EventLog } from '@svc/events';
import type { KvStore } from '@svc/kv';
import { eventSource } from '../compose/events.ts';
import type { RoleContext } from '../roles/role.ts';
import { askForAlerts } from '../stats/audit-service.ts';
import { auditLogs } from '../stats/log-audit.ts';
import { auditInstallation } from '../stats/self-audit.ts';
import { isDevelopmentVersion, version } from '../version.ts';

/** Logs what an administrator should change and hears of newer versions where that is configured. */
export async function auditServer(
  context: RoleContext,
  { kv, engine, auth }: { readonly kv: KvStore; readonly engine: Engine; readonly auth: Auth },
): Promise<void> {
  const { config, logger, exchange } = context;
  try {
    const findings = await auditInstallation({
      config,
      hasAccessKey: async (accessKeyId) => (await auth.credentialsFor(accessKeyId)) !== undefined,
    });
    const level = context.trial ? 'debug' : 'warn';
    for (const finding of findings)
      logger[level]({ finding: finding.id }, `security audit: ${finding.description}`);
    const { bindings } = engine;
    const log = new EventLog(kv);
    const missed = await auditLogs({ kv, log, bindings, source: eventSource(engine), now: Date.now() });
    for (const { id, description } of missed) logger.warn({ finding: id }, `audit: ${description}`);
    if (config.security.audit_check_url === '' || isDevelopmentVersion(version)) return;
    const alerts = await askForAlerts({
      url: config.security.audit_check_url,
      version,
      installationId: await auth.installation.id(),
      logger,
    });
    if (alerts !== undefined) await exchange.askOthers('alerts', alerts);
  } catch (error) {
    logger.debug({ error }, 'the self-audit did not finish');
  }
}
