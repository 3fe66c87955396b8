import type { Auth } from '@svc/auth';
import type { RoleContext } from '../roles/role.ts';
import { askForAlerts } from '../stats/audit-service.ts';
import { auditInstallation } from '../stats/self-audit.ts';
import { isDevelopmentVersion, version } from '../version.ts';

/** Logs what an administrator should change and hears of newer versions where that is configured. */
export async function auditServer(context: RoleContext, auth: Auth): Promise<void> {
  const { config, logger, exchange } = context;
  try {
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
  } catch (error) {
    logger.debug({ error }, 'the self-audit did not finish');
  }
}
