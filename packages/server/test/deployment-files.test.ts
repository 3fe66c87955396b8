import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../src/config/index.ts';
import { addRuntimeMetrics, createMetrics } from '../src/metrics/metrics.ts';

const folder = join(import.meta.dirname, '../../../deploy');

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const rules = parse(readFileSync(join(folder, 'prometheus/alerts.yaml'), 'utf8')) as Rules;
const dashboard = JSON.parse(readFileSync(join(folder, 'grafana/svc.json'), 'utf8')) as Dashboard;
const expressions = [
  ...rules.groups.flatMap((group) => group.rules.map(({ alert, expr }) => [alert, expr] as const)),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** Names of metrics with the labels that an expression uses of them. */
function usedIn(expr: string): { names: string[]; labels: string[] } {
  const names = [...expr.matchAll(/\b([a-z][a-z\d]*_[a-z\d_]+)(?=[[{)\s]|$)/g)].map(([, name = '']) => name);
  const matched = [...expr.matchAll(/(\w+)(?==~?")/g)].map(([, label = '']) => label);
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
  return { names: names.filter((name) => name !== 'histogram_quantile'), labels: [...matched, ...grouped] };
}

/** Labels that Prometheus itself adds. */
const scraped = new Set(['instance', 'job', 'le']);

test.each(expressions)('"%s" asks for metrics and labels that a server has', (_, expr) => {
  const metrics = createMetrics();
  addRuntimeMetrics(metrics);
  const known = new Map(
    metrics.registry
      .getMetricsAsArray()
      .map(
        (metric) => [metric.name, (metric as unknown as { labelNames?: string[] }).labelNames ?? []] as const,
      ),
  );
  metrics.registry.clear();
  const { names, labels } = usedIn(expr);
  if (expr.startsWith('up{')) return;
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const base = name.replace(/_(bucket|count|sum)$/, '');
    const found = known.get(name) ?? known.get(base);
    expect(found, name).toBeDefined();
    expect([...(found ?? []), ...scraped]).toEqual(expect.arrayContaining(labels));
  }
});

interface Compose {
  readonly services: { readonly svc: { readonly environment: Readonly<Record<string, string>> } };
}

/** Stands for what the operator sets. */
const given = (variable: string): string =>
  variable.includes('ENDPOINT') ? 'http://127.0.0.1:9000' : 'given-by-the-operator';

test.each(['embedded', 'postgres-s3', 'fleet'])('the configuration of the example "%s" is one', (name) => {
  const text = readFileSync(join(folder, `compose/${name}.yaml`), 'utf8');
  const { environment } = (parse(text) as Compose).services.svc;
  const env = Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [key, value.replaceAll(/\$\{[^}]*\}/g, given)]),
  );
  const { sources, config } = loadConfig({ env, cwd: tempDir() });
  expect(config.listen_address).toBe('0.0.0.0:8000');
  expect([...sources.values()].filter(({ kind }) => kind === 'environment')).toHaveLength(
    Object.keys(environment).length,
  );
});
