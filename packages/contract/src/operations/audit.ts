import { Type } from 'typebox';
import { errors, json } from '../answers.ts';
import { auditResult, AuditEntryList } from '../models/audit.ts';
import { dateTime, text } from '../models/values.ts';
import { operation } from '../operation.ts';
import { after, amount } from '../parameters.ts';
import { anything, one } from '../requirement-template.ts';

export const auditOperations = {
  listAuditEntries: operation({
    operationId: 'listAuditEntries',
    method: 'GET',
    path: '/audit',
    tag: 'audit',
    summary: 'Who did what when, newest first',
    requires: one('auth:ReadAuditLog', anything),
    query: {
      after,
      amount,
      user: Type.Optional(text),
      action: Type.Optional(text),
      resource: Type.Optional(text),
      result: Type.Optional(auditResult),
      source_ip: Type.Optional(text),
      since: Type.Optional(dateTime),
      until: Type.Optional(dateTime),
    },
    responses: {
      200: json(AuditEntryList),
      ...errors(400, 401, 429, 501, 'default'),
    },
  }),
} as const;
