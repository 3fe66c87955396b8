import type { Auth } from '@svc/auth';
import type { Engine, Job } from '@svc/engine';
import type { RoleContext } from '../roles/role.ts';
import { auditServer } from './audit-server.ts';

/** What every process does for itself: each counts in its own memory. */
export function processJobs({ config }: Pick<RoleContext, 'config'>, engine: Pick<Engine, 'usage'>): Job[] {
  const { enabled, flush_interval: everyMs } = config.usage_report;
  if (!enabled || everyMs === 0) return [];
  return [{ name: 'flush-usage', everyMs, begin: () => () => engine.usage.flush() }];
}

/** What one process of a server does for all of them; those with a lease, one server for all. */
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
