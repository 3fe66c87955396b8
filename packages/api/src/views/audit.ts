import { resultOf, type AuditEntry } from '@svc/auth';

export function auditEntryView(entry: AuditEntry) {
  return {
    time: new Date(entry.time).toISOString(),
    user: entry.user,
    access_key_id: entry.accessKeyId,
    action: entry.operation,
    permission: entry.action,
    resource: entry.resource,
    result: resultOf(entry),
    status: entry.status,
    source_ip: entry.sourceIp,
    service: entry.service,
    request_id: entry.requestId,
  };
}
