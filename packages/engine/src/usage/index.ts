import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { Usage, UsageReport } from '../face/usage.ts';
import { usagePartition } from '../store/keys.ts';

const minuteMs = 60_000;
const keyPattern = /\/(\d{4})(\d{2})$/;

/** Counts actions in memory and adds them to the month's stored count now and then. */
export function usage(context: EngineContext): Usage {
  const pending = new Map<string, number>();
  let month = '';
  let monthEnds = 0;
  return {
    record: (count = 1) => {
      const now = context.clock();
      // Every request comes through here: the month is worked out once a minute at most.
      if (now >= monthEnds) {
        month = monthOf(now);
        monthEnds = (Math.floor(now / minuteMs) + 1) * minuteMs;
      }
      pending.set(month, (pending.get(month) ?? 0) + count);
    },
    flush: async () => {
      const installation = await context.settings.installationId();
      if (installation === undefined) return;
      for (const [month, count] of pending) {
        pending.delete(month);
        try {
          await addToMonth(context, installation, month, count);
        } catch (error) {
          pending.set(month, (pending.get(month) ?? 0) + count);
          throw error;
        }
      }
    },
    reports: async () => {
      const installation = await context.settings.installationId();
      if (installation === undefined) throw notFound('repository', 'installation not found');
      return readReports(context, installation);
    },
  };
}

function monthOf(millis: number): string {
  return new Date(millis).toISOString().slice(0, 7).replace('-', '');
}

async function addToMonth(
  context: EngineContext,
  installation: string,
  month: string,
  count: number,
): Promise<void> {
  const key = Buffer.from(`usage/monthly/${installation}/${month}`);
  for (;;) {
    const found = await context.kv.get(usagePartition, key);
    const total = Number(found?.value.toString() ?? '0') + count;
    const value = Buffer.from(String(total));
    if (await context.kv.setIf(usagePartition, key, value, found?.predicate ?? 'absent')) return;
  }
}

async function readReports(context: EngineContext, installation: string): Promise<UsageReport[]> {
  const reports: UsageReport[] = [];
  const prefix = Buffer.from(`usage/monthly/${installation}/`);
  for await (const page of context.kv.scan(usagePartition, { prefix })) {
    for (const { key, value } of page) {
      const match = keyPattern.exec(key.toString());
      if (match === null) continue;
      reports.push({ year: Number(match[1]), month: Number(match[2]), count: Number(value.toString()) });
    }
  }
  return reports;
}
