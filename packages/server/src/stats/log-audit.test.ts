import { outboxPut, timestampFromMillis, XidGenerator } from '@svc/encoding';
import type { Engine } from '@svc/engine';
import { EventLog, KeeperTerm, SubscriptionStore } from '@svc/events';
import { createMemStore, MemState, type KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { auditLogs } from './log-audit.ts';

const now = 1_700_000_000_000;
const partition = Buffer.from('lake-c0000000000000000000');
const source = {
  async *partitions() {
    yield partition;
  },
  isThere: () => Promise.resolve(true),
  retireTokens: () => Promise.resolve(),
};
const logger = { debug() {}, info() {}, warn() {}, error() {} };

type Alias = Awaited<ReturnType<Engine['bindings']['listAliases']>>['items'][number];

async function found(kv: KvStore, at: number, aliases: readonly Partial<Alias>[] = []): Promise<string[]> {
  // One to a page: whatever comes after the first one is looked at as well.
  const listAliases: Engine['bindings']['listAliases'] = ({ after = '' }) => {
    const index = after === '' ? 0 : Number(after);
    const items = aliases.slice(index, index + 1) as Alias[];
    return Promise.resolve({ items, hasMore: index + 1 < aliases.length, nextOffset: String(index + 1) });
  };
  const log = new EventLog(kv);
  const findings = await auditLogs({ kv, log, source, bindings: { listAliases }, now: at });
  return findings.map(({ id, description }) => `${id}: ${description}`);
}

async function happened(kv: KvStore): Promise<void> {
  const told = { type: 'svc.protection.changed', subject: '', user: 'anna', data: {} };
  const { key, value } = outboxPut(told, now, new XidGenerator());
  await kv.set(partition, key, value);
}

test('finds nothing where all is well', async () => {
  const kv = createMemStore(new MemState());
  await happened(kv);
  const whole = { bucket: 'prod', repository: 'lake', ref: 'main', dangling: false };
  expect(await found(kv, now + 299_000, [whole])).toEqual([]);
});

test('finds events that nobody reads out, and clocks that differ', async () => {
  const kv = createMemStore(new MemState());
  await happened(kv);
  expect(await found(kv, now + 301_000)).toEqual([
    expect.stringMatching(/^old-outbox: events in lake-\w+ wait since 2023-11-14T22:13:20.000Z/),
  ]);
  const term = await KeeperTerm.begin({ kv, source, logger, clock: () => now });
  await term.round([partition.toString()]);
  expect(await found(kv, now + 301_000)).toEqual([]);
  expect(await found(kv, now - 59_000)).toEqual([]);
  expect(await found(kv, now - 61_000)).toEqual([expect.stringContaining('clock-skew: ')]);
});

test('finds aliases that lead nowhere and webhooks that were stopped', async () => {
  const kv = createMemStore(new MemState());
  const aliases = [
    { bucket: 'prod', repository: 'lake', ref: 'main', dangling: false },
    { bucket: 'old', repository: 'lake', ref: 'gone', dangling: true },
  ];
  const store = new SubscriptionStore(kv);
  const none = Buffer.alloc(0);
  for (const [id, enabled, disabledReason] of [
    ['a', true, ''],
    ['b', false, ''],
    ['c', false, 'nothing was delivered for five days'],
  ] as const) {
    await store.create({
      id,
      enabled,
      disabledReason,
      url: 'https://hooks.example.com',
      repository: '',
      types: [],
      subject: '',
      format: 'cloudevents',
      ordering: 'ref',
      headers: none,
      headerNames: [],
      description: '',
      owner: 'anna',
      createdAt: timestampFromMillis(now),
      secret: none,
      formerSecret: none,
      formerUntil: undefined,
      from: 0,
    });
  }
  expect(await found(kv, now, aliases)).toEqual([
    'dangling-alias: alias old leads to lake/gone, which is not there; point it elsewhere or delete it',
    'disabled-subscription: subscription c was stopped: nothing was delivered for five days; enable it again or delete it',
  ]);
});
