import { AuditLog, type Auth } from '@svc/auth';
import type { Engine, Job } from '@svc/engine';
import { EventLog, trimDeadLetters, trimEvents } from '@svc/events';
import type { KvStore } from '@svc/kv';
import type { ProcessHooks } from '../compose/hooks.ts';
import type { RoleContext } from '../roles/role.ts';
import { auditServer } from './audit-server.ts';

/** Jobs of every process: each counts usage in its own memory. */
export function processJobs({ config }: Pick<RoleContext, 'config'>, engine: Pick<Engine, 'usage'>): Job[] {
  const { enabled, flush_interval: everyMs } = config.usage_report;
  if (!enabled || everyMs === 0) return [];
  return [{ name: 'flush-usage', everyMs, begin: () => () => engine.usage.flush() }];
}

/** How soon hooks of a server that died are found. */
const hookSweepMs = 10_000;
/** How long logs of hooks before an operation wait for their place in the namespace; they are served meanwhile. */
const hookFilesMs = 5000;
const hourMs = 3_600_000;

/** Jobs that run in one process of a server; those with a lease run on one server only. */
export function serverJobs(
  context: RoleContext,
  parts: { kv: KvStore; engine: Engine; auth: Auth; hooks: ProcessHooks },
): readonly Job[] {
  const { actions, isEnabled } = parts.hooks;
  return [
    ...parts.engine.jobs,
    // Every server looks for what another one left behind; who handles an event holds a lease on it.
    ...(isEnabled ? [{ name: 'hooks', everyMs: hookSweepMs, begin: () => () => actions.runQueued() }] : []),
    { name: 'hook-files', everyMs: hookFilesMs, begin: () => () => actions.writeFiles() },
    {
      name: 'trim-events',
      everyMs: hourMs,
      lease: 'housekeeping',
      begin: () => async (round) => {
        const { retention: retentionMs, max_bytes: maxBytes } = context.config.events;
        const mayGoOn = (): Promise<boolean> => round.mayGoOn();
        const now = Date.now();
        await trimEvents(parts.kv, new EventLog(parts.kv), { retentionMs, maxBytes, now, mayGoOn });
        await trimDeadLetters(parts.kv, { now, mayGoOn });
      },
    },
    {
      name: 'trim-audit',
      // All of it is read to learn its size: seldom is enough.
      everyMs: 6 * hourMs,
      lease: 'housekeeping',
      begin: () => async (round) => {
        const { retention: retentionMs, max_bytes: maxBytes } = context.config.audit;
        const mayGoOn = (): Promise<boolean> => round.mayGoOn();
        await new AuditLog(parts.kv).trim({ now: Date.now(), retentionMs, maxBytes, mayGoOn });
      },
    },
    {
      name: 'trim-sessions',
      everyMs: hourMs,
      lease: 'housekeeping',
      begin: () => (round) => parts.auth.sessions.trim(() => round.mayGoOn()),
    },
    {
      name: 'unused-views',
      everyMs: hourMs,
      lease: 'housekeeping',
      begin: () => (round) =>
        parts.engine.bindings.removeUnusedViews({
          isUsed: async (accessKeyId) => (await parts.auth.credentialsFor(accessKeyId))?.hasView === true,
          round,
        }),
    },
    {
      name: 'audit',
      everyMs: context.config.security.audit_check_interval,
      begin: () => () => auditServer(context, parts),
    },
  ];
}
