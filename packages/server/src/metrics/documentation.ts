import { addRuntimeMetrics, createMetrics } from './metrics.ts';

interface Described {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

const introduction = `# Metrics

<!-- Generated from the code by "npm run docs"; change the code, not this file. -->

\`GET /metrics\` answers in the format of Prometheus, summed over the processes of the server, to whoever can reach it.
No metric has a label that a user can choose freely, and none names a repository. [Alert rules](../deploy/prometheus/alerts.yaml)
and a [Grafana dashboard](../deploy/grafana/svc.json) are part of the repository; [tracing](tracing.md) tells what single
requests did. Names of the groups \`lakefs_…\` are those that existing dashboards ask for; the same numbers are there as
\`svc_…\`.
`;

const kinds: Readonly<Record<string, string>> = {
  counter: 'counter',
  gauge: 'gauge',
  histogram: 'histogram',
  summary: 'summary',
};

function rows(metrics: readonly Described[]): string {
  const lines = metrics
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, type, labelNames = [] }) => {
      const labels = labelNames.map((label) => `\`${label}\``).join(', ');
      return `| \`${name}\` | ${kinds[type] ?? type} | ${labels === '' ? '–' : labels} | ${help.replaceAll('|', '\\|')} |`;
    });
  return `| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

/** The reference of all metrics, from the registry of a server. */
export async function metricsDocument(): Promise<string> {
  const metrics = createMetrics();
  addRuntimeMetrics(metrics);
  const described = await metrics.registry.getMetricsAsJSON();
  const labels = new Map(
    metrics.registry
      .getMetricsAsArray()
      .map((metric) => [metric.name, (metric as unknown as Described).labelNames ?? []] as const),
  );
  metrics.registry.clear();
  const all = described.map(({ name, help, type }) => ({
    name,
    help,
    type: String(type),
    labelNames: labels.get(name) ?? [],
  }));
  const runtime = ({ name }: Described): boolean => /^(nodejs|process)_/.test(name);
  return `${introduction}
## Of svc

${rows(all.filter((metric) => !runtime(metric)))}
## Of the process

${rows(all.filter(runtime))}`;
}
