import type { ApiObserver, FinishedRequest } from '@svc/api';
import type { GatewayObserver } from '@svc/gateway';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { HistogramSeries, NumberSeries } from '../metrics/series.ts';
import { ClientEvents } from '../stats/client-events.ts';
import type { Statistics } from '../stats/statistics.ts';
import { clientName, peerOf } from './access-log.ts';
import type { AccessLog } from './access-log.ts';
import type { RequestAudit } from './request-audit.ts';

interface ObserverOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly statistics: Statistics;
  readonly accessLog: AccessLog;
  readonly audit: RequestAudit | undefined;
}

/** Turns what the API tells into log lines, metrics and statistics. */
export function observeApi(options: ObserverOptions): ApiObserver {
  const { logger, metrics, statistics, accessLog, audit } = options;
  const operations = new Map<string, ApiOperation>();
  const clientEvents = new ClientEvents();
  const operationOf = (id: string): ApiOperation => {
    const known = operations.get(id);
    if (known !== undefined) return known;
    const operation = new ApiOperation(metrics, id);
    operations.set(id, operation);
    return operation;
  };
  return {
    started: (id) => operationOf(id).concurrent.inc(),
    finished(request) {
      const operation = operationOf(request.operationId);
      operation.measure(request);
      audit?.addApi(request);
      const debugs = logger.isEnabled('DEBUG');
      const logs = accessLog.isEnabled();
      if (!statistics.detailed) statistics.count(operation.event);
      if (!statistics.detailed && !debugs && !logs) return;
      const { params } = request;
      const client = clientName(request.request);
      const scope = {
        repository: params['repository'],
        ref: params['ref'] ?? params['branch'] ?? params['destinationBranch'],
        source_ref: params['sourceRef'],
      };
      const event = { ...operation.event, ...scope, user_id: request.username, client };
      if (statistics.detailed) statistics.count(event);
      if (debugs) logger.debug({ ...event, source_ip: peerOf(request.request) }, 'performing API action');
      if (!logs) return;
      accessLog.write({
        service: 'rest_api',
        requestId: request.requestId,
        operationId: request.operationId,
        method: request.method,
        host: request.request.headers.host ?? '',
        url: request.url,
        peer: peerOf(request.request),
        clientIp: request.clientIp,
        client,
        status: request.status,
        durationMs: request.durationMs,
        sentBytes: request.sentBytes,
        user: request.username,
        fields: {
          ...scope,
          auth_method: request.authMethod,
          access_key_id: request.accessKeyId,
          denied: request.denied,
        },
        exchange: request,
      });
    },
    failed: (error, request) =>
      logger.error(
        { error, request_id: request.requestId, operation_id: request.operationId },
        'request failed',
      ),
    counted(events) {
      for (const event of events) statistics.count(clientEvents.eventOf(event), event.count);
    },
  };
}

/** What one operation of the API is measured with; looked up once, used by every request. */
class ApiOperation {
  readonly event: { readonly class: 'api_server'; readonly name: string };
  readonly concurrent: NumberSeries;
  readonly #metrics: Metrics;
  readonly #firstByte: HistogramSeries | undefined;
  readonly #byStatus = new Map<
    number,
    { readonly requests: NumberSeries; readonly duration: HistogramSeries }
  >();

  constructor(metrics: Metrics, operation: string) {
    this.event = { class: 'api_server', name: operation };
    this.concurrent = metrics.concurrentRequests.labels({ service: 'api', operation });
    this.#metrics = metrics;
    this.#firstByte =
      operation === 'getObject' ? metrics.apiTimeToFirstByte.labels({ operation }) : undefined;
  }

  measure(request: FinishedRequest): void {
    this.concurrent.dec();
    const { requests, duration } = this.#byStatus.get(request.status) ?? this.#seriesOf(request);
    requests.inc();
    duration.observe(request.durationMs / 1000);
    if (request.firstByteMs !== undefined) this.#firstByte?.observe(request.firstByteMs / 1000);
  }

  #seriesOf({ status, method }: FinishedRequest) {
    const code = String(status);
    const series = {
      requests: this.#metrics.apiRequests.labels({ code, method: method.toLowerCase() }),
      duration: this.#metrics.apiDuration.labels({ code, operation: this.event.name }),
    };
    this.#byStatus.set(status, series);
    return series;
  }
}

/** Turns what the gateway tells into log lines, metrics and statistics. */
export function observeGateway(options: ObserverOptions): GatewayObserver {
  const { metrics, statistics, accessLog, audit } = options;
  const operations = new Map<string, GatewayOperation>();
  const bindings = {
    alias: metrics.bindingRequests.labels({ kind: 'alias' }),
    view: metrics.bindingRequests.labels({ kind: 'view' }),
  };
  const operationOf = (id: string): GatewayOperation => {
    const known = operations.get(id);
    if (known !== undefined) return known;
    const operation = new GatewayOperation(metrics, id);
    operations.set(id, operation);
    return operation;
  };
  return {
    started: (operation) => operationOf(operation).concurrent.inc(),
    finished(record) {
      const { operation, binding } = record;
      if (binding !== undefined) bindings[binding].inc();
      operationOf(operation).measure(record.status, record.durationMs / 1000);
      audit?.addGateway(record);
      const { repository, ref, client } = record;
      const user = record.identity?.user.username;
      if (record.event !== undefined) {
        statistics.count({ class: 's3_gateway', name: record.event, repository, ref, user_id: user, client });
      }
      if (record.bytesIn > 0) statistics.count({ class: 'traffic', name: 'bytes_in' }, record.bytesIn);
      if (record.bytesOut > 0) statistics.count({ class: 'traffic', name: 'bytes_out' }, record.bytesOut);
      if (!accessLog.isEnabled()) return;
      accessLog.write({
        service: 's3_gateway',
        requestId: record.requestId,
        operationId: operation,
        method: record.method,
        host: record.host,
        url: record.rawPath,
        peer: record.remoteAddress,
        clientIp: record.remoteAddress,
        client,
        status: record.status,
        durationMs: record.durationMs,
        sentBytes: record.bytesSent,
        user,
        fields: {
          repository,
          ref,
          matched_host: record.matchedHost,
          upload_id: record.uploadId,
          part_number: record.partNumber,
          error_code: record.errorCode,
          auth_method: record.identity?.method,
          access_key_id: record.identity?.accessKeyId,
        },
      });
    },
  };
}

/** What one operation of the gateway is measured with; looked up once, used by every request. */
class GatewayOperation {
  readonly concurrent: NumberSeries;
  readonly #operation: string;
  readonly #metrics: Metrics;
  readonly #durations = new Map<number, HistogramSeries>();

  constructor(metrics: Metrics, operation: string) {
    this.concurrent = metrics.concurrentRequests.labels({ service: 'gateway', operation });
    this.#operation = operation;
    this.#metrics = metrics;
  }

  measure(status: number, seconds: number): void {
    this.concurrent.dec();
    (this.#durations.get(status) ?? this.#durationOf(status)).observe(seconds);
  }

  #durationOf(status: number): HistogramSeries {
    const series = this.#metrics.gatewayDuration.labels({ code: String(status), operation: this.#operation });
    this.#durations.set(status, series);
    return series;
  }
}
