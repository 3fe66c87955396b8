import { Type } from 'typebox';
import { Pagination } from './common.ts';
import { dateTime, integer, text, textOf } from './values.ts';

export const auditResult = textOf(['success', 'denied', 'failure']);

export const AuditEntry = Type.Object(
  {
    time: dateTime,
    user: Type.Optional(text),
    access_key_id: Type.Optional(text),
    action: text,
    permission: Type.Optional(text),
    resource: Type.Optional(text),
    result: auditResult,
    status: integer,
    source_ip: text,
    service: textOf(['api', 's3']),
    request_id: text,
  },
  { title: 'AuditEntry' },
);

export const AuditEntryList = Type.Object(
  {
    pagination: Pagination,
    results: Type.Array(AuditEntry),
    searched_until: Type.Optional(dateTime),
  },
  { title: 'AuditEntryList' },
);
