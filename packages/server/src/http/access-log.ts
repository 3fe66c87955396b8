import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LogLevel } from '../config/index.ts';
import { hasSecretBody, redactHeaders, redactUrl } from '../logging/index.ts';
import type { Logger } from '../logging/index.ts';
import { bodyText, recordOf } from './request-record.ts';

export interface EndedRequest {
  readonly service: 'rest_api' | 's3_gateway';
  readonly requestId: string;
  readonly operationId: string;
  readonly method: string;
  readonly host: string;
  /** The request URI as it came. */
  readonly url: string;
  /** Address of the peer, whoever it speaks for. */
  readonly peer: string;
  readonly clientIp: string;
  /** What the caller says it is. */
  readonly client: string;
  readonly status: number;
  readonly durationMs: number;
  readonly sentBytes: number;
  readonly user: string | undefined;
  /** Whatever else is known: repository, ref, upload_id, auth_method, denied, … */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Shown at the trace level. */
  readonly exchange?: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
}

interface AccessLogOptions {
  readonly logger: Logger;
  readonly auditLevel: LogLevel;
  readonly traceRequestHeaders: boolean;
}

export interface AccessLog {
  /** Whether a line would be written. Ask before gathering its fields. */
  isEnabled(): boolean;
  write(ended: EndedRequest): void;
}

/** The method of a logger that writes lines for auditors. */
export function auditLevelOf(level: LogLevel): Lowercase<Exclude<LogLevel, 'NONE'>> {
  return (level === 'NONE' ? 'DEBUG' : level).toLowerCase() as Lowercase<Exclude<LogLevel, 'NONE'>>;
}

/** Writes the line at the end of each request. */
export function createAccessLog(options: AccessLogOptions): AccessLog {
  const { logger } = options;
  const level = options.auditLevel === 'NONE' ? 'DEBUG' : options.auditLevel;
  const method = auditLevelOf(options.auditLevel);
  const isEnabled = (): boolean => logger.isEnabled(level);
  return {
    isEnabled,
    write(ended) {
      if (!isEnabled()) return;
      logger[method](
        {
          file: 'http/access-log.ts',
          func: 'accessLog',
          log_audit: true,
          request_id: ended.requestId,
          service_name: ended.service,
          operation_id: ended.operationId,
          user: ended.user,
          method: ended.method,
          host: ended.host,
          path: redactUrl(ended.url),
          status_code: ended.status,
          took: Math.round(ended.durationMs * 1e6),
          took_str: `${ended.durationMs.toFixed(3)}ms`,
          sent_bytes: ended.sentBytes,
          source_ip: ended.peer,
          client_ip: ended.clientIp,
          client: ended.client,
          ...ended.fields,
          ...(logger.isEnabled('TRACE') ? traceFields(ended, options.traceRequestHeaders) : {}),
        },
        'HTTP call ended',
      );
    },
  };
}

export function peerOf(request: IncomingMessage): string {
  const { remoteAddress, remotePort } = request.socket;
  return remoteAddress === undefined ? '' : `${remoteAddress}:${remotePort ?? 0}`;
}

/** What the caller says it is. */
export function clientName(request: IncomingMessage): string {
  const own = request.headers['x-lakefs-client'];
  return (Array.isArray(own) ? own[0] : own) ?? request.headers['user-agent'] ?? '';
}

function traceFields(ended: EndedRequest, withRequestHeaders: boolean): Record<string, unknown> {
  if (ended.exchange === undefined) return {};
  const { request, response } = ended.exchange;
  const record = recordOf(request);
  const secret = hasSecretBody(ended.url);
  return {
    request_body: secret ? '[REDACTED]' : bodyText(record?.requestBody ?? []),
    response_body: secret ? '[REDACTED]' : bodyText(record?.responseBody ?? []),
    response_headers: redactHeaders(response.getHeaders()),
    ...(withRequestHeaders ? { request_headers: redactHeaders(request.headers) } : {}),
  };
}
