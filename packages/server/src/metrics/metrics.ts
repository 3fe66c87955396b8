import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics, exponentialBuckets } from 'prom-client';
import { HistogramFamily, NumberFamily } from './series.ts';

const requestBuckets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];
const authBuckets = [0.001, 0.002, 0.005, ...requestBuckets];
const kvBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const asyncBuckets = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

const cloudStores = ['s3', 'gs', 'azure'] as const;
export type CloudStore = (typeof cloudStores)[number];

export interface BlockOperationMetrics {
  readonly duration: Histogram<'operation' | 'storage_id' | 'error'>;
  readonly size: Histogram<'operation' | 'storage_id' | 'error'>;
}

/** The metrics of one process. Names are those dashboards already use. */
export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  /** Asked when somebody looks: connections come and go too often to count them one by one. */
  const connectionsInUse = new Map<string, () => number>();
  let openStreams = (): number => 0;
  const block = (store: CloudStore): BlockOperationMetrics => ({
    duration: new Histogram({
      name: `${store}_operation_duration_seconds`,
      help: `durations of ${store} operations`,
      labelNames: ['operation', 'storage_id', 'error'],
      registers,
    }),
    size: new Histogram({
      name: `${store}_operation_size_bytes`,
      help: `sizes of ${store} operations`,
      labelNames: ['operation', 'storage_id', 'error'],
      buckets: exponentialBuckets(1, 10, 10),
      registers,
    }),
  });
  return {
    registry,
    apiRequests: new NumberFamily({
      name: 'api_requests_total',
      help: 'requests of the API',
      labelNames: ['code', 'method'],
      type: 'counter',
      registry,
    }),
    apiDuration: new HistogramFamily({
      name: 'api_request_duration_seconds',
      help: 'duration of API requests',
      labelNames: ['operation', 'code'],
      buckets: requestBuckets,
      registry,
    }),
    apiTimeToFirstByte: new HistogramFamily({
      name: 'api_request_ttfb_duration_seconds',
      help: 'time to the first byte of object downloads',
      labelNames: ['operation'],
      buckets: requestBuckets,
      registry,
    }),
    gatewayDuration: new HistogramFamily({
      name: 'gateway_request_duration_seconds',
      help: 'duration of gateway requests',
      labelNames: ['operation', 'code'],
      buckets: requestBuckets,
      registry,
    }),
    concurrentRequests: new NumberFamily({
      name: 'lakefs_concurrent_requests',
      help: 'requests being served',
      labelNames: ['service', 'operation'],
      type: 'gauge',
      registry,
    }),
    authDuration: new HistogramFamily({
      name: 'auth_request_duration_seconds',
      help: 'duration of authentication and authorization',
      labelNames: ['operation', 'success'],
      buckets: authBuckets,
      registry,
    }),
    kvDuration: new HistogramFamily({
      name: 'kv_request_duration_seconds',
      help: 'duration of key-value requests',
      labelNames: ['type', 'operation'],
      buckets: kvBuckets,
      registry,
    }),
    kvFailures: new NumberFamily({
      name: 'kv_request_failures_total',
      help: 'key-value requests that failed, found nothing or whose condition did not hold',
      labelNames: ['type', 'operation'],
      type: 'counter',
      registry,
    }),
    kvRetries: new Counter({
      name: 'graveler_kv_retries',
      help: 'operations repeated because another writer came first',
      labelNames: ['operation'],
      registers,
    }),
    dynamoCapacity: new Counter({
      name: 'dynamo_consumed_capacity_total',
      help: 'capacity units consumed',
      labelNames: ['operation'],
      registers,
    }),
    dynamoSlowdown: new Counter({
      name: 'dynamo_slowdown_total',
      help: 'throttled requests',
      labelNames: ['operation'],
      registers,
    }),
    block: { s3: block('s3'), gs: block('gs'), azure: block('azure') },
    blockConcurrent: new NumberFamily({
      name: 'blockstore_concurrent_operations',
      help: 'block store operations being served',
      labelNames: ['operation', 'blockstore_type'],
      type: 'gauge',
      registry,
    }),
    connectionsInUse,
    outgoingConnections: new Gauge({
      name: 'out_in_use_conns',
      help: 'outgoing connections in use',
      labelNames: ['service'],
      registers,
      collect() {
        for (const [service, count] of connectionsInUse) this.set({ service }, count());
      },
    }),
    tierCacheHits: new Counter({
      name: 'tier_fs_cache_hits_total',
      help: 'lookups in the cache folder',
      labelNames: ['fsName', 'status'],
      registers,
    }),
    tierErrors: new Counter({
      name: 'tier_fs_errors_total',
      help: 'errors of the cache folder',
      labelNames: ['fsName', 'type'],
      registers,
    }),
    traceSpans: new Counter({
      name: 'svc_trace_spans_total',
      help: 'spans of traces that were exported or dropped',
      labelNames: ['outcome'],
      registers,
    }),
    damagedTables: new Counter({
      name: 'svc_damaged_tables_total',
      help: 'times a damaged or missing table of committed metadata was come across',
      labelNames: ['kind'],
      registers,
    }),
    tierEvictions: new Histogram({
      name: 'tier_fs_eviction_bytes',
      help: 'bytes evicted from the cache folder',
      labelNames: ['fsName'],
      buckets: exponentialBuckets(1024, 4, 7),
      registers,
    }),
    tierDownloads: new Histogram({
      name: 'tier_fs_download_bytes',
      help: 'bytes downloaded into the cache folder',
      labelNames: ['fsName'],
      buckets: exponentialBuckets(1024, 4, 7),
      registers,
    }),
    asyncRunning: new Gauge({
      name: 'lakefs_async_operations_running',
      help: 'asynchronous operations running',
      labelNames: ['operation'],
      registers,
    }),
    asyncDuration: new Histogram({
      name: 'lakefs_async_operation_duration_seconds',
      help: 'duration of asynchronous operations',
      labelNames: ['operation', 'status'],
      buckets: asyncBuckets,
      registers,
    }),
    gcRuns: new Counter({
      name: 'svc_gc_runs_total',
      help: 'garbage collections that ended',
      labelNames: ['outcome'],
      registers,
    }),
    gcPhases: new Histogram({
      name: 'svc_gc_phase_seconds',
      help: 'duration of the phases of garbage collections',
      labelNames: ['phase'],
      buckets: asyncBuckets,
      registers,
    }),
    gcDeletedObjects: new Counter({
      name: 'svc_gc_deleted_objects_total',
      help: 'objects deleted by garbage collection',
      labelNames: ['class'],
      registers,
    }),
    gcDeletedBytes: new Counter({
      name: 'svc_gc_deleted_bytes_total',
      help: 'bytes deleted by garbage collection',
      labelNames: ['class'],
      registers,
    }),
    gcDeleteFailures: new Counter({
      name: 'svc_gc_delete_failures_total',
      help: 'objects that garbage collection could not delete',
      registers,
    }),
    gcRescued: new Counter({
      name: 'svc_gc_rescued_objects_total',
      help: 'condemned objects that came into use again',
      registers,
    }),
    gcCondemnedObjects: new Gauge({
      name: 'svc_gc_condemned_objects',
      help: 'objects that wait to be deleted, as of the last runs of this process',
      registers,
    }),
    gcCondemnedBytes: new Gauge({
      name: 'svc_gc_condemned_bytes',
      help: 'bytes that wait to be deleted, as of the last runs of this process',
      registers,
    }),
    gcLastSuccess: new Gauge({
      name: 'svc_gc_last_success_timestamp_seconds',
      help: 'when the last garbage collection of this process completed',
      registers,
    }),
    gcWriterWait: new Histogram({
      name: 'svc_gc_writer_wait_seconds',
      help: 'how long writers waited for a batch of deletions',
      buckets: asyncBuckets,
      registers,
    }),
    asyncExpired: new Counter({
      name: 'lakefs_async_operations_expired_total',
      help: 'asynchronous operations that nobody finished',
      labelNames: ['operation'],
      registers,
    }),
    hooksEnded: new Counter({
      name: 'svc_hooks_total',
      help: 'hooks that ended, by action and result',
      labelNames: ['action', 'event', 'status'],
      registers,
    }),
    hookDuration: new Histogram({
      name: 'svc_hook_run_duration_seconds',
      help: 'duration of hook runs',
      labelNames: ['event', 'type', 'status'],
      buckets: asyncBuckets,
      registers,
    }),
    eventsSequenced: new Counter({
      name: 'svc_events_sequenced_total',
      help: 'events put into the log',
      registers,
    }),
    outboxEntries: new Gauge({
      name: 'svc_outbox_entries',
      help: 'events that waited to be put into the log when the keeper last looked',
      registers,
    }),
    refMoves: new NumberFamily({
      name: 'svc_ref_moves_total',
      help: 'moves of branches, tags, aliases and views',
      labelNames: ['kind'],
      type: 'counter',
      registry,
    }),
    timeRefs: new NumberFamily({
      name: 'svc_time_ref_resolutions_total',
      help: 'refs with a time in them that were resolved, by the form of the time',
      labelNames: ['form', 'outcome'],
      type: 'counter',
      registry,
    }),
    bindingRequests: new NumberFamily({
      name: 'svc_binding_requests_total',
      help: 'gateway requests through an alias or the view of an access key',
      labelNames: ['kind'],
      type: 'counter',
      registry,
    }),
    eventLag: new Gauge({
      name: 'svc_event_lag_seconds',
      help: 'how long the oldest of the events put into the log last had waited',
      registers,
    }),
    webhookDeliveries: new Counter({
      name: 'svc_webhook_deliveries_total',
      help: 'attempts to deliver events to subscribers',
      labelNames: ['outcome'],
      registers,
    }),
    countEventStreams: (count: () => number): void => {
      openStreams = count;
    },
    eventStreams: new Gauge({
      name: 'svc_event_streams',
      help: 'event streams that are open',
      registers,
      collect() {
        this.set(openStreams());
      },
    }),
    events: new NumberFamily({
      name: 'svc_events_total',
      help: 'what this installation is used for (the statistics of stats.*)',
      labelNames: ['class', 'name'],
      type: 'counter',
      registry,
    }),
  };
}

/** Runtime metrics (`process_*`, `nodejs_*`); apart, because they start timers. */
export function addRuntimeMetrics(metrics: Metrics): void {
  collectDefaultMetrics({ register: metrics.registry });
}

/** Forgets what was counted so far: what a process does for itself before it serves anybody is no traffic. */
export function resetMetrics({ registry, gcWriterWait }: Metrics): void {
  registry.resetMetrics();
  // Without labels it is shown from the start.
  gcWriterWait.zero({});
}
