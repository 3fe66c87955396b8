import { randomUUID } from 'node:crypto';
import type { BlockAdapter } from '@svc/block';
import type { Engine } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { version } from '../version.ts';
import { OtlpExporter } from './otlp-exporter.ts';
import { Tracer } from './tracer.ts';

/** What is traced, and where it goes. */
export interface Tracing {
  readonly tracer: Tracer;
  traceKv(store: KvStore): KvStore;
  traceBlock(adapter: BlockAdapter): BlockAdapter;
  traceEngine(engine: Engine): Engine;
  /** Sends what was not sent yet. */
  close(): Promise<void>;
}

export function openTracing(config: Config, logger: Logger, metrics: Metrics): Tracing {
  const { endpoint, headers, sample_ratio, service_name } = config.tracing;
  const exporter = new OtlpExporter({
    endpoint,
    headers,
    resource: {
      'service.name': service_name,
      'service.version': version,
      'service.instance.id': randomUUID(),
      'process.pid': process.pid,
    },
    onSpans: (outcome, count) => metrics.traceSpans.inc({ outcome }, count),
    onState(error) {
      if (error === undefined) logger.info({}, 'traces are exported again');
      else logger.warn({ error }, 'traces cannot be exported; they are dropped until the collector answers');
    },
  });
  const tracer = new Tracer({ sampleRatio: sample_ratio, ended: (span) => exporter.add(span) });
  return {
    tracer,
    traceKv: (store) => tracer.calls(store, 'kv ', 'client', { 'db.system.name': store.type }),
    traceBlock: (adapter) => tracer.calls(adapter, 'block ', 'client', { 'svc.blockstore': adapter.type }),
    traceEngine: (engine) =>
      Object.fromEntries(
        Object.entries(engine).map(([name, part]) => [
          name,
          typeof part === 'object' && !Array.isArray(part)
            ? tracer.calls(part as object, `${name}.`, 'internal')
            : (part as unknown),
        ]),
      ) as unknown as Engine,
    close: () => exporter.close(),
  };
}
