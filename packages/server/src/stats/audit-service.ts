import type { Logger } from '../logging/index.ts';

interface AuditServiceOptions {
  readonly url: string;
  readonly version: string;
  readonly installationId: string;
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
}

interface AuditAnswer {
  readonly upgrade_url?: string;
  readonly alerts?: readonly {
    readonly id?: string;
    readonly affected_versions?: string;
    readonly patched_versions?: string;
    readonly description?: string;
  }[];
}

/** Asks the service an administrator has configured for alerts about this version; undefined when there are none. */
export async function askForAlerts(
  options: AuditServiceOptions,
): Promise<{ upgradeRecommended: true; upgradeUrl: string | undefined } | undefined> {
  const url = new URL(options.url);
  url.searchParams.set('version', options.version);
  url.searchParams.set('installation_id', options.installationId);
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const { alerts = [], upgrade_url: upgradeUrl } = (await answer.json()) as AuditAnswer;
    for (const alert of alerts) options.logger.warn({ ...alert }, 'security alert');
    return alerts.length === 0 ? undefined : { upgradeRecommended: true, upgradeUrl };
  } catch (error) {
    options.logger.debug({ error }, 'the security audit service did not answer');
    return undefined;
  }
}
