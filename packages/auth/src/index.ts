export { resultOf, type AuditEntry, type AuditResult } from './audit/audit-entry.ts';
export { AuditLog, type AuditPage, type AuditQuery } from './audit/audit-log.ts';
export { AuditWriter } from './audit/audit-writer.ts';
export type * from './auth.ts';
export { createAuth } from './create-auth.ts';
export * from './errors.ts';
export * from './identity.ts';
export * from './model.ts';
export * from './requirement.ts';
