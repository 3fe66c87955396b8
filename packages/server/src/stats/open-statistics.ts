import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { isDevelopmentVersion, version } from '../version.ts';
import { StatisticsSender, createStatistics, noStatistics } from './statistics.ts';
import type { Statistics } from './statistics.ts';

interface OpenStatisticsOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'events'>;
  readonly installationId: string;
}

/** Statistics as configured; they are posted only to an address the administrator has set. */
export function openStatistics(options: OpenStatisticsOptions): Statistics {
  const { config, logger, metrics, installationId } = options;
  const { stats } = config;
  if (!stats.enabled) return noStatistics;
  const sends = stats.address !== '' && !isDevelopmentVersion(version);
  return createStatistics({
    events: metrics.events,
    sender: sends
      ? new StatisticsSender({
          address: stats.address,
          installationId: () => installationId,
          flushIntervalMs: stats.flush_interval,
          flushSize: stats.flush_size,
          extended: stats.extended,
          logger,
        })
      : undefined,
  });
}
