import type { ApiObserver, FinishedRequest } from '@svc/api';
import type { GatewayObserver } from '@svc/gateway';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Statistics } from '../stats/statistics.ts';
import { clientName, peerOf } from './access-log.ts';
import type { EndedRequest } from './access-log.ts';
import { recordOf } from './request-record.ts';

interface ObserverOptions {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly statistics: Statistics;
  readonly accessLog: (ended: EndedRequest) => void;
}

type RequestMetrics = Pick<
  Metrics,
  'apiRequests' | 'apiDuration' | 'apiTimeToFirstByte' | 'concurrentRequests' | 'gatewayDuration'
>;

/** Turns what the API tells into log lines, metrics and statistics. */
export function observeApi(options: ObserverOptions): ApiObserver {
  const { logger, metrics, statistics, accessLog } = options;
  return {
    started: (operation) => metrics.concurrentRequests.inc({ service: 'api', operation }),
    finished(request) {
      measureApi(metrics, request);
      const { params } = request;
      const client = clientName(request.request);
      const scope = {
        repository: params['repository'],
        ref: params['ref'] ?? params['branch'] ?? params['destinationBranch'],
        source_ref: params['sourceRef'],
      };
      statistics.count({
        class: 'api_server',
        name: request.operationId,
        ...scope,
        user_id: request.username,
        client,
      });
      if (logger.isEnabled('DEBUG')) {
        logger.debug(
          {
            class: 'api_server',
            name: request.operationId,
            ...scope,
            user_id: request.username,
            client,
            source_ip: peerOf(request.request),
          },
          'performing API action',
        );
      }
      accessLog({
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
      for (const event of events) statistics.count({ class: event.class, name: event.name }, event.count);
    },
  };
}

function measureApi(metrics: RequestMetrics, request: FinishedRequest): void {
  const code = String(request.status);
  const operation = request.operationId;
  metrics.concurrentRequests.dec({ service: 'api', operation });
  metrics.apiRequests.inc({ code, method: request.method.toLowerCase() });
  metrics.apiDuration.observe({ code, operation }, request.durationMs / 1000);
  const record = recordOf(request.request);
  if (operation === 'getObject' && record?.firstByteAt !== undefined) {
    metrics.apiTimeToFirstByte.observe({ operation }, (record.firstByteAt - record.startedAt) / 1000);
  }
}

/** Turns what the gateway tells into log lines, metrics and statistics. */
export function observeGateway(options: ObserverOptions): GatewayObserver {
  const { metrics, statistics, accessLog } = options;
  return {
    started: (operation) => metrics.concurrentRequests.inc({ service: 'gateway', operation }),
    finished(record) {
      const { operation } = record;
      metrics.concurrentRequests.dec({ service: 'gateway', operation });
      metrics.gatewayDuration.observe({ code: String(record.status), operation }, record.durationMs / 1000);
      const { repository, ref, client } = record;
      const user = record.identity?.user.username;
      if (record.event !== undefined) {
        statistics.count({ class: 's3_gateway', name: record.event, repository, ref, user_id: user, client });
      }
      if (record.bytesIn > 0) statistics.count({ class: 'traffic', name: 'bytes_in' }, record.bytesIn);
      if (record.bytesOut > 0) statistics.count({ class: 'traffic', name: 'bytes_out' }, record.bytesOut);
      accessLog({
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
