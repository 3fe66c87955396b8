import type { Auth } from '@svc/auth';
import type { Engine, Job } from '@svc/engine';
import type { RoleContext } from '../roles/role.ts';
import { auditServer } from './audit-server.ts';

/** Jobs of every process: each counts usage in its own memory. */
export function processJobs({ config }: Pick<RoleContext, 'config'>, engine: Pick<Engine, 'usage'>): Job[] {
  const { enabled, flush_interval: everyMs } = config.usage_report;
  if (!enabled || everyMs === 0) return [];
  return [{ name: 'flush-usage', everyMs, begin: () => () => engine.usage.flush() }];
}

/** Jobs that run in one process of a server; those with a lease run on one server only. */
export function serverJobs(context: RoleContext, parts: { engine: Engine; auth: Auth }): readonly Job[] {
  return [
    ...parts.engine.jobs,
    {
      name: 'audit',
      everyMs: context.config.security.audit_check_interval,
      begin: () => () => auditServer(context, parts.auth),
    },
  ];
}
