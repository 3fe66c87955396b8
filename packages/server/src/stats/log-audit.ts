import { moveTime, outboxPrefix } from '@svc/encoding';
import type { Engine } from '@svc/engine';
import { SubscriptionStore, type EventLog, type EventSource } from '@svc/events';
import type { KvStore } from '@svc/kv';
import type { AuditFinding } from './self-audit.ts';

/** Events are read out of an outbox within a second; after so long nobody does it. */
const oldOutboxMs = 300_000;
const skewMs = 60_000;

interface LogAuditOptions {
  readonly kv: KvStore;
  readonly log: Pick<EventLog, 'tail' | 'segmentWith'>;
  readonly source: Pick<EventSource, 'partitions'>;
  readonly bindings: Pick<Engine['bindings'], 'listAliases'>;
  readonly now: number;
}

/** Looks for what readers of buckets and events miss without being told. */
export async function auditLogs(options: LogAuditOptions): Promise<AuditFinding[]> {
  return [
    ...(await oldOutboxes(options)),
    ...(await danglingAliases(options)),
    ...(await disabledSubscriptions(options)),
    ...(await skewedClock(options)),
  ];
}

async function oldOutboxes({ kv, source, now }: LogAuditOptions): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  for await (const partition of source.partitions()) {
    for await (const [first] of kv.scan(partition, { prefix: outboxPrefix, batch: 1 })) {
      const time = first === undefined ? now : moveTime(first.key.subarray(outboxPrefix.length)) / 1000;
      if (now - time > oldOutboxMs) {
        findings.push({
          id: 'old-outbox',
          description: `events in ${partition.toString()} wait since ${new Date(time).toISOString()}; look for "the log of events could not be kept" in the logs of all servers`,
        });
      }
      break;
    }
  }
  return findings;
}

async function danglingAliases({ bindings }: LogAuditOptions): Promise<AuditFinding[]> {
  const findings: AuditFinding[] = [];
  let after = '';
  for (;;) {
    const page = await bindings.listAliases({ after, amount: 1000 });
    for (const { bucket, repository, ref, dangling } of page.items) {
      if (!dangling) continue;
      findings.push({
        id: 'dangling-alias',
        description: `alias ${bucket} leads to ${repository}/${ref}, which is not there; point it elsewhere or delete it`,
      });
    }
    if (!page.hasMore) return findings;
    after = page.nextOffset;
  }
}

async function disabledSubscriptions({ kv }: LogAuditOptions): Promise<AuditFinding[]> {
  const all = await new SubscriptionStore(kv).list();
  return all
    .filter(({ enabled, disabledReason }) => !enabled && disabledReason !== '')
    .map(({ id, disabledReason }) => ({
      id: 'disabled-subscription',
      description: `subscription ${id} was stopped: ${disabledReason}; enable it again or delete it`,
    }));
}

async function skewedClock({ log, now }: LogAuditOptions): Promise<AuditFinding[]> {
  const { lastSegment } = await log.tail();
  const last = lastSegment === 0 ? undefined : await log.segmentWith(lastSegment);
  const ahead = (last?.appendedAt ?? now) - now;
  if (ahead <= skewMs) return [];
  return [
    {
      id: 'clock-skew',
      description: `the last events were logged ${Math.round(ahead / 1000)} s ahead of this server's clock; synchronise the clocks of all servers`,
    },
  ];
}
