import { AggregatorRegistry } from 'prom-client';

/** The metrics of one process as data, to be sent to another. */
export type MetricsSnapshot = readonly object[];

/** Sums the snapshots of several processes into the text Prometheus reads. */
export async function renderMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  const sum = AggregatorRegistry.aggregate(snapshots as object[]);
  return withOwnNames(await sum.metrics());
}

/** Folds snapshots into one; gauges of processes that have ended are left out. */
export async function foldSnapshots(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  const lasting = snapshots.map((snapshot) =>
    snapshot.filter((metric) => (metric as { type?: string }).type !== 'gauge'),
  );
  return AggregatorRegistry.aggregate(lasting).getMetricsAsJSON();
}

/** Metrics whose name begins with `lakefs_` are shown a second time as `svc_`. */
function withOwnNames(text: string): string {
  const own = text
    .split('\n')
    .filter((line) => /^(# (HELP|TYPE) )?lakefs_/.test(line))
    .map((line) => line.replace('lakefs_', 'svc_'));
  return own.length === 0 ? text : `${text.trimEnd()}\n${own.join('\n')}\n`;
}
