import { createMemAdapter } from '@svc/block';
import { createMemStore, type KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { foldSnapshots, renderMetrics } from './aggregate.ts';
import type { Auth } from '@svc/auth';
import { instrumentAuth } from './instrument-auth.ts';
import { instrumentBlock } from './instrument-block.ts';
import { instrumentKv } from './instrument-kv.ts';
import { addRuntimeMetrics, createMetrics, resetMetrics } from './metrics.ts';
import { observeCache, observeTasks } from './observe-engine.ts';

const bytes = (text: string) => Buffer.from(text);

/** The names dashboards use. */
const promised = [
  'api_requests_total',
  'api_request_duration_seconds',
  'api_request_ttfb_duration_seconds',
  'gateway_request_duration_seconds',
  'lakefs_concurrent_requests',
  'auth_request_duration_seconds',
  'kv_request_duration_seconds',
  'kv_request_failures_total',
  'graveler_kv_retries',
  'dynamo_consumed_capacity_total',
  'dynamo_slowdown_total',
  's3_operation_duration_seconds',
  'gs_operation_duration_seconds',
  'azure_operation_duration_seconds',
  's3_operation_size_bytes',
  'gs_operation_size_bytes',
  'azure_operation_size_bytes',
  'blockstore_concurrent_operations',
  'out_in_use_conns',
  'tier_fs_cache_hits_total',
  'tier_fs_errors_total',
  'tier_fs_eviction_bytes',
  'tier_fs_download_bytes',
  'svc_damaged_tables_total',
  'lakefs_async_operations_running',
  'lakefs_async_operation_duration_seconds',
  'lakefs_async_operations_expired_total',
  'svc_hook_run_duration_seconds',
  'svc_hooks_total',
  'svc_ref_moves_total',
  'svc_outbox_entries',
  'svc_time_ref_resolutions_total',
  'svc_binding_requests_total',
];

test('every promised name is there, lakefs_ ones also as svc_', async () => {
  const metrics = createMetrics();
  const text = await renderMetrics([await metrics.registry.getMetricsAsJSON()]);
  for (const name of promised) {
    expect(text).toContain(`# TYPE ${name} `);
    if (name.startsWith('lakefs_')) expect(text).toContain(`# TYPE ${name.replace('lakefs_', 'svc_')} `);
  }
});

test('several processes are summed, and the counts of a process that ended stay', async () => {
  const [one, two, three] = [createMetrics(), createMetrics(), createMetrics()];
  for (const metrics of [one, two, three]) {
    metrics.apiRequests.inc({ code: '200', method: 'get' });
    metrics.apiDuration.observe({ code: '200', operation: 'listRepositories' }, 0.03);
    metrics.concurrentRequests.inc({ service: 'api', operation: 'x' });
  }
  const ended = await foldSnapshots([await three.registry.getMetricsAsJSON()]);
  const text = await renderMetrics([
    await one.registry.getMetricsAsJSON(),
    await two.registry.getMetricsAsJSON(),
    await foldSnapshots([ended, []]),
  ]);
  expect(text).toContain('api_requests_total{code="200",method="get"} 3');
  expect(text).toContain('api_request_duration_seconds_count{code="200",operation="listRepositories"} 3');
  expect(text).toContain(
    'api_request_duration_seconds_bucket{le="0.05",code="200",operation="listRepositories"} 3',
  );
  expect(text).toContain('svc_concurrent_requests{service="api",operation="x"} 2');
});

test('a histogram counts each value in every bucket that holds it', async () => {
  const metrics = createMetrics();
  const series = metrics.kvDuration.labels({ type: 'mem', operation: 'Get' });
  for (const value of [0, 0.01, 0.02, 11]) series.observe(value);
  expect(metrics.kvDuration.labels({ type: 'mem', operation: 'Get' })).toBe(series);
  const text = await metrics.registry.metrics();
  const labels = 'type="mem",operation="Get"';
  expect(text).toContain(`kv_request_duration_seconds_bucket{le="0.01",${labels}} 2`);
  expect(text).toContain(`kv_request_duration_seconds_bucket{le="0.025",${labels}} 3`);
  expect(text).toContain(`kv_request_duration_seconds_bucket{le="10",${labels}} 3`);
  expect(text).toContain(`kv_request_duration_seconds_bucket{le="+Inf",${labels}} 4`);
  expect(text).toContain(`kv_request_duration_seconds_sum{${labels}} 11.03`);
  expect(text).toContain(`kv_request_duration_seconds_count{${labels}} 4`);
});

test('runtime metrics survive the journey', async () => {
  const metrics = createMetrics();
  addRuntimeMetrics(metrics);
  const text = await renderMetrics([
    JSON.parse(JSON.stringify(await metrics.registry.getMetricsAsJSON())) as object[],
  ]);
  expect(text).toContain('process_cpu_seconds_total');
  expect(text).toContain('nodejs_eventloop_lag_seconds');
});

test('key-value calls are measured; not found and lost conditions count as failures', async () => {
  const metrics = createMetrics();
  const store = instrumentKv(createMemStore(), metrics);
  const partition = bytes('p');
  await store.set(partition, bytes('k'), bytes('v'));
  expect((await store.get(partition, bytes('k')))?.value.toString()).toBe('v');
  expect(await store.get(partition, bytes('none'))).toBeUndefined();
  expect(store.valueAtOnce?.(partition, bytes('k'))?.toString()).toBe('v');
  expect(store.valueAtOnce?.(partition, bytes('none'))).toBeUndefined();
  expect(() => store.valueAtOnce?.(bytes(''), bytes('k'))).toThrow('missing partition key');
  const waiting: KvStore = new Proxy(createMemStore(), {
    get: (target, name) => (name === 'valueAtOnce' ? undefined : (Reflect.get(target, name) as unknown)),
  });
  expect(instrumentKv(waiting, metrics)).toMatchObject({ valueAtOnce: undefined });
  expect(await store.setIf(partition, bytes('k'), bytes('w'), 'absent')).toBe(false);
  await expect(store.get(bytes(''), bytes('k'))).rejects.toThrow();
  const seen: string[] = [];
  for await (const page of store.scan(partition)) seen.push(...page.map((entry) => entry.key.toString()));
  expect(seen).toEqual(['k']);
  for await (const page of store.scan(partition)) if (page.length > 0) break;
  await store.close();
  const text = await metrics.registry.metrics();
  expect(text).toContain('kv_request_duration_seconds_count{type="mem",operation="Get"} 6');
  expect(text).toContain('kv_request_failures_total{type="mem",operation="Get"} 4');
  expect(text).toContain('kv_request_failures_total{type="mem",operation="SetIf"} 1');
  expect(text).toMatch(/kv_request_duration_seconds_count\{type="mem",operation="Scan"\} [2-4]/);
});

test('block calls are measured with their size and outcome', async () => {
  const metrics = createMetrics();
  const inner = createMemAdapter({ id: 'store' });
  const adapter = instrumentBlock({ ...bind(inner), type: 's3' }, metrics);
  const pointer = { storageNamespace: 'mem://b', identifier: 'x', identifierType: 'relative' } as const;
  await adapter.put(pointer, bytes('hello'));
  expect((await adapter.get(pointer)).size).toBe(5);
  await expect(adapter.get({ ...pointer, identifier: 'missing' })).rejects.toThrow();
  const text = await metrics.registry.metrics();
  expect(text).toContain(
    's3_operation_duration_seconds_count{operation="get",storage_id="store",error="false"} 1',
  );
  expect(text).toContain(
    's3_operation_duration_seconds_count{operation="get",storage_id="store",error="true"} 1',
  );
  expect(text).toContain('s3_operation_size_bytes_sum{operation="put",storage_id="store",error="false"} 5');
  expect(text).toContain('blockstore_concurrent_operations{operation="get",blockstore_type="s3"} 0');
});

test('calls about many objects reach the store with all that was asked', async () => {
  const inner = createMemAdapter({ id: 'store' });
  const asked: unknown[] = [];
  const deleteMany: typeof inner.deleteMany = (_pointers, options) => {
    asked.push(options);
    return Promise.resolve([]);
  };
  const adapter = instrumentBlock({ ...bind(inner), deleteMany }, createMetrics());
  const options = { mayGoOn: () => false };
  await adapter.deleteMany([], options);
  expect(asked).toEqual([options]);
});

test('logins and permission checks are measured by outcome', async () => {
  const metrics = createMetrics();
  const auth = instrumentAuth(
    {
      authenticate: () => Promise.resolve(undefined),
      ensureAllowed: () => Promise.reject(new Error('denied')),
    } as unknown as Auth,
    metrics,
  );
  await auth.authenticate({} as never);
  await expect(auth.ensureAllowed({} as never, {} as never, {} as never)).rejects.toThrow('denied');
  const text = await metrics.registry.metrics();
  expect(text).toContain('auth_request_duration_seconds_count{operation="authenticate",success="success"} 1');
  expect(text).toContain('auth_request_duration_seconds_count{operation="authorize",success="failure"} 1');
});

test('files of the cache folder are counted by folder', async () => {
  const metrics = createMetrics();
  const cache = observeCache(metrics);
  cache.found('range');
  cache.found('range');
  cache.missed('metarange');
  cache.downloaded('metarange', 5000);
  cache.evicted('range', 1000);
  cache.failed('range', 'eviction');
  const text = await metrics.registry.metrics();
  expect(text).toContain('tier_fs_cache_hits_total{fsName="range",status="hit"} 2');
  expect(text).toContain('tier_fs_cache_hits_total{fsName="meta-range",status="miss"} 1');
  expect(text).toContain('tier_fs_download_bytes_bucket{le="16384",fsName="meta-range"} 1');
  expect(text).toContain('tier_fs_eviction_bytes_bucket{le="1024",fsName="range"} 1');
  expect(text).toContain('tier_fs_errors_total{fsName="range",type="eviction"} 1');
});

test('asynchronous operations are measured by outcome', async () => {
  const metrics = createMetrics();
  const tasks = observeTasks(metrics);
  tasks.started('dump_refs');
  tasks.started('dump_refs');
  tasks.ended('dump_refs', 'failure', 3);
  tasks.expired('restore_refs');
  const text = await metrics.registry.metrics();
  const labels = 'operation="dump_refs",status="failure"';
  expect(text).toContain('lakefs_async_operations_running{operation="dump_refs"} 1');
  expect(text).toContain(`lakefs_async_operation_duration_seconds_bucket{le="5",${labels}} 1`);
  expect(text).toContain('lakefs_async_operations_expired_total{operation="restore_refs"} 1');
});

test('connections in use are asked for when somebody looks', async () => {
  const metrics = createMetrics();
  let inUse = 3;
  metrics.connectionsInUse.set('postgres', () => inUse);
  expect(await metrics.registry.metrics()).toContain('out_in_use_conns{service="postgres"} 3');
  inUse = 0;
  expect(await metrics.registry.metrics()).toContain('out_in_use_conns{service="postgres"} 0');
});

/** The adapter as a plain object of bound methods, so that its type can be changed. */
function bind(adapter: ReturnType<typeof createMemAdapter>) {
  const bound: Record<string, unknown> = { info: adapter.info };
  for (let proto: unknown = adapter; proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    for (const name of Object.getOwnPropertyNames(proto)) {
      const value = (adapter as unknown as Record<string, unknown>)[name];
      if (typeof value === 'function' && name !== 'constructor') bound[name] = value.bind(adapter);
    }
  }
  return bound as unknown as ReturnType<typeof createMemAdapter>;
}

test('what was counted is forgotten, what is going on goes on', async () => {
  const metrics = createMetrics();
  const reads = metrics.kvDuration.labels({ type: 'mem', operation: 'Get' });
  const running = metrics.concurrentRequests.labels({ service: 'api', operation: 'statObject' });
  reads.observe(0.02);
  metrics.kvFailures.inc({ type: 'mem', operation: 'Get' });
  metrics.kvRetries.inc({ operation: 'commit' });
  metrics.gcWriterWait.observe(1);
  running.inc();
  resetMetrics(metrics);
  reads.observe(0.03);
  running.inc();
  const text = await renderMetrics([await metrics.registry.getMetricsAsJSON()]);
  expect(text).toContain('kv_request_duration_seconds_count{type="mem",operation="Get"} 1');
  expect(text).toContain('kv_request_duration_seconds_sum{type="mem",operation="Get"} 0.03');
  expect(text).toContain('kv_request_failures_total{type="mem",operation="Get"} 0');
  expect(text).not.toContain('graveler_kv_retries{');
  expect(text).toContain('svc_gc_writer_wait_seconds_count 0');
  expect(text).toContain('concurrent_requests{service="api",operation="statObject"} 2');
});
