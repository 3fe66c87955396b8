import { createMemStore, type KvStore } from '@svc/kv';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogLines } from '../../test/make-auth.ts';
import { compareEntries, type AuditEntry } from './audit-entry.ts';
import { AuditLog, type AuditQuery } from './audit-log.ts';
import { auditPartition, maxSpanMs } from './audit-segment.ts';
import { AuditWriter } from './audit-writer.ts';

const start = Date.UTC(2026, 5, 1);
let made = 0;

function entry(change: Partial<AuditEntry> = {}): AuditEntry {
  return {
    time: start,
    requestId: `request-${String(made++).padStart(6, '0')}`,
    service: 'api',
    operation: 'createBranch',
    user: 'alice',
    action: 'fs:CreateBranch',
    resource: 'arn:svc:fs:::repository/lake/branch/main',
    status: 201,
    sourceIp: '10.0.0.1',
    ...change,
  };
}

function writerOf(kv: KvStore): AuditWriter {
  return new AuditWriter({ kv, logger: new LogLines() });
}

async function stored(kv: KvStore, ...entries: AuditEntry[]): Promise<AuditLog> {
  const writer = writerOf(kv);
  for (const each of entries) writer.add(each);
  await writer.close();
  return new AuditLog(kv);
}

async function readAll(log: AuditLog, query: Partial<AuditQuery> = {}, amount = 3): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await log.read({ ...query, amount, after });
    all.push(...page.results);
    if (!page.hasMore) return all;
    after = page.nextOffset;
  }
}

async function countSegments(kv: KvStore): Promise<number> {
  let count = 0;
  for await (const page of kv.scan(auditPartition)) count += page.length;
  return count;
}

describe('the audit log', () => {
  it('gives back what was added, newest first', async () => {
    const entries = [
      entry(),
      entry({ time: start + 5, user: undefined, accessKeyId: 'AKIA' }),
      entry({ time: start + 9 }),
    ];
    const log = await stored(createMemStore(), ...entries);
    expect(await readAll(log)).toStrictEqual(
      entries.toReversed().map((each) => JSON.parse(JSON.stringify(each))),
    );
  });

  it('adds to the segment of the minute instead of making one a second', async () => {
    const kv = createMemStore();
    const writer = writerOf(kv);
    for (let second = 0; second < 50; second++) {
      writer.add(entry({ time: start + second * 1000 }));
      await writer.flush();
    }
    expect(await countSegments(kv)).toBe(1);
    writer.add(entry({ time: start + maxSpanMs + 1 }));
    await writer.flush();
    expect(await countSegments(kv)).toBe(2);
    expect(await readAll(new AuditLog(kv))).toHaveLength(51);
  });

  it('splits what is too much for one value of the store', async () => {
    const kv = createMemStore();
    const key = () =>
      Array.from({ length: 300 }, () => String.fromCodePoint(33 + Math.floor(Math.random() * 90))).join('');
    const log = await stored(kv, ...Array.from({ length: 3000 }, () => entry({ resource: key() })));
    for await (const page of kv.scan(auditPartition))
      for (const { value } of page) expect(value.length).toBeLessThan(400_000);
    expect(await readAll(log, {}, 1000)).toHaveLength(3000);
  });

  it('shows the processes of several servers as one, in the order of time', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(
            fc.record({ delay: fc.nat(40_000), flush: fc.boolean(), user: fc.constantFrom('a', 'b') }),
            { maxLength: 12 },
          ),
          { minLength: 1, maxLength: 3 },
        ),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(undefined, 'a'),
        fc.option(fc.nat(200_000), { nil: undefined }),
        fc.option(fc.nat(200_000), { nil: undefined }),
        fc.constantFrom(1, 16 * 1024 * 1024),
        async (processes, amount, user, from, to, maxPageBytes) => {
          const kv = createMemStore();
          const expected: AuditEntry[] = [];
          for (const steps of processes) {
            const writer = writerOf(kv);
            let time = start;
            for (const step of steps) {
              time += step.delay;
              const each = entry({ time, user: step.user });
              writer.add(each);
              expected.push(each);
              if (step.flush) await writer.flush();
            }
            await writer.close();
          }
          const since = from === undefined ? undefined : start + from;
          const until = to === undefined ? undefined : start + to;
          const wanted = expected
            .filter((each) => user === undefined || each.user === user)
            .filter(({ time }) => time >= (since ?? 0) && time <= (until ?? Infinity))
            .toSorted(compareEntries);
          const log = new AuditLog(kv, { maxPageBytes });
          const ids = (await readAll(log, { user, since, until }, amount)).map(({ requestId }) => requestId);
          expect(ids).toStrictEqual(wanted.map(({ requestId }) => requestId));
        },
      ),
      { numRuns: 150 },
    );
  });

  it.each([
    [{ user: 'bob' }, 1],
    [{ action: 'deleteUser' }, 1],
    [{ action: 'auth:*' }, 1],
    [{ action: 'fs:CreateBranch' }, 1],
    [{ resource: 'arn:svc:fs:::repository/lake/*' }, 1],
    [{ resource: 'arn:svc:fs:::repository/lake' }, 0],
    [{ result: 'denied' as const }, 1],
    [{ result: 'failure' as const }, 0],
    [{ sourceIp: '10.0.0.1' }, 2],
  ])('finds by %j', async (query, count) => {
    const log = await stored(
      createMemStore(),
      entry(),
      entry({
        user: 'bob',
        operation: 'deleteUser',
        action: 'auth:DeleteUser',
        resource: 'arn:svc:auth:::user/x',
        status: 401,
      }),
    );
    expect(await readAll(log, query)).toHaveLength(count);
  });

  it('says how far a search came that meets nothing', async () => {
    const kv = createMemStore();
    for (let minute = 0; minute < 5; minute++) await stored(kv, entry({ time: start + minute * 120_000 }));
    const page = await new AuditLog(kv, { maxPageBytes: 1 }).read({ user: 'nobody', amount: 10 });
    expect(page).toMatchObject({ results: [], hasMore: true });
    expect(page.searchedUntil).toBeLessThan(start + 4 * 120_000);
  });

  it('refuses an offset that is none', async () => {
    await expect(new AuditLog(createMemStore()).read({ amount: 1, after: 'x' })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('forgets by age, and the oldest first when there is too much', async () => {
    const kv = createMemStore();
    for (let hour = 0; hour < 5; hour++) await stored(kv, entry({ time: start + hour * 3_600_000 }));
    const log = new AuditLog(kv);
    const trim = (retentionMs: number, maxBytes: number, mayGoOn = true) =>
      log.trim({ now: start + 5 * 3_600_000, retentionMs, maxBytes, mayGoOn: async () => mayGoOn });
    await trim(3_600_000, 1e9, false);
    expect(await readAll(log)).toHaveLength(5);
    await trim(3.5 * 3_600_000, 1e9);
    expect(await readAll(log)).toHaveLength(3);
    await trim(1e12, 400);
    const left = await readAll(log);
    expect(left.length).toBeGreaterThan(0);
    expect(left.length).toBeLessThan(3);
    expect(left[0]?.time).toBe(start + 4 * 3_600_000);
  });

  it('writes again what the store refused, and never fails its caller', async () => {
    const kv = createMemStore();
    let refuses = true;
    const logger = new LogLines();
    const flaky: Pick<KvStore, 'set'> = {
      set: (...args) => (refuses ? Promise.reject(new Error('the store is away')) : kv.set(...args)),
    };
    const writer = new AuditWriter({ kv: flaky, logger });
    writer.add(entry());
    await writer.flush();
    expect(logger.lines.join()).toContain('the audit log cannot be written');
    refuses = false;
    writer.add(entry({ time: start + 1 }));
    await writer.close();
    expect(await readAll(new AuditLog(kv))).toHaveLength(2);
  });
});
