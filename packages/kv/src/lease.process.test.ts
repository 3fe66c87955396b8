import { join } from 'node:path';
import { tempDir, testServerOrSkip } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextLine, startChild, type Child } from '../test/child.ts';
import { Lease, leasesPartition } from './lease.ts';
import { openStore, type KvStoreConfig } from './open-store.ts';
import type { KvStore } from './store.ts';

const postgres = await testServerOrSkip('postgres');

const localStore = (): KvStoreConfig => ({
  type: 'local',
  path: join(tempDir('svc-lease'), 'kv'),
  syncWrites: true,
});
const postgresStore = (connectionString: string): KvStoreConfig => ({
  type: 'postgres',
  connectionString: `${connectionString}&svckv_table=lease_${process.pid}`,
  maxOpenConnections: 2,
  maxIdleConnections: 2,
  connectionMaxLifetimeMs: 0,
  scanPageSize: 100,
});

const stores = [
  { name: 'one local store', config: localStore },
  ...(postgres === undefined
    ? []
    : [{ name: 'one PostgreSQL', config: () => postgresStore(postgres.connectionString) }]),
];

describe.each(stores)('two processes on $name', ({ config }) => {
  let kv: KvStore;
  let holder: Child;
  beforeEach(async () => {
    const used = config();
    kv = await openStore(used);
    holder = startChild('hold-lease.ts', JSON.stringify(used));
    expect(await nextLine(holder)).toBe('holds');
  });
  afterEach(async () => {
    holder.process.kill('SIGKILL');
    await holder.ended;
    await kv.delete(leasesPartition, Buffer.from('job'));
    await kv.close();
  });

  const now = (): Lease => new Lease(kv, { name: 'job', owner: 'test' });
  /** Once the other one's term is over. */
  const later = (): Lease =>
    new Lease(kv, { name: 'job', owner: 'test', clock: () => Date.now() + 3_600_000 });

  test('a killed holder keeps the lease until its term ends and is then replaced', async () => {
    holder.process.kill('SIGKILL');
    await holder.ended;
    expect(await now().acquire()).toBeUndefined();
    const taken = await later().acquire();
    expect(await taken?.isHeld()).toBe(true);
  });

  test('a paused holder that was replaced notices before its next step', async () => {
    holder.process.send('step');
    expect(await nextLine(holder)).toBe('goes on');
    holder.process.kill('SIGSTOP');
    const taken = await later().acquire();
    holder.process.kill('SIGCONT');
    holder.process.send('step');
    expect(await nextLine(holder)).toBe('stops');
    expect(await taken?.isHeld()).toBe(true);
  });
});
