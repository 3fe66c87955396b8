import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { testServerOrSkip } from '@svc/testing';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { cuttingProxy, type CuttingProxy } from '../../../test/cutting-proxy.ts';
import type { KvEntry, KvStore } from '../../store.ts';
import { openPostgresStore } from '../postgres.ts';
import { hashPartition } from './hash-partition.ts';

const server = await testServerOrSkip('postgres');
const key = Buffer.from('k');
const bindExecuteSync = ['B', 'E', 'S'];

describe.runIf(server !== undefined)('round trips', () => {
  const schema = `s${randomUUID().replaceAll('-', '')}`;
  const admin = new Client(server?.connectionString);
  /** In different tables. */
  const [here, there, elsewhere] = ['here', 'there', 'elsewhere'].map((name) => Buffer.from(name)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  let proxy: CuttingProxy;
  let store: KvStore;

  beforeAll(async () => {
    await admin.connect();
    await admin.query(`CREATE SCHEMA ${schema}`);
    expect(new Set([here, there, elsewhere].map((name) => hashPartition(name, 100))).size).toBe(3);
  });
  afterAll(async () => {
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end();
  });
  beforeEach(async () => {
    proxy = await cuttingProxy(new URL(server?.connectionString ?? ''));
    store = await open(2);
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  const open = (connections: number): Promise<KvStore> =>
    openPostgresStore({
      connectionString: `${proxy.connectionString}&search_path=${schema}`,
      maxOpenConnections: connections,
      maxIdleConnections: connections,
      connectionMaxLifetimeMs: 60_000,
      scanPageSize: 1000,
    });

  /** How often the system was called to send what `work` asks for, once the server knows the statements. */
  async function sendsOf(work: () => Promise<unknown>): Promise<number> {
    await work();
    proxy.sent.length = 0;
    const calls = vi.spyOn(Socket.prototype, '_writev');
    try {
      await work();
      const proxyPort = Number(new URL(proxy.connectionString).port);
      return (calls.mock.contexts as readonly Socket[]).filter(({ remotePort }) => remotePort === proxyPort)
        .length;
    } finally {
      calls.mockRestore();
    }
  }

  async function firstPage(partition: Buffer, batch: number): Promise<KvEntry[]> {
    for await (const page of store.scan(partition, { batch })) return page;
    return [];
  }

  test('statements that follow each other leave with one call of the system, and none asks what its columns are', async () => {
    const write = { partition: Buffer.from('staged'), key, value: Buffer.from('value') };
    expect(await sendsOf(async () => store.setThenGet?.(write, here, key))).toBe(1);
    expect(messagesOf(Buffer.concat(proxy.sent))).toEqual([...bindExecuteSync, ...bindExecuteSync]);
  });

  test('what is read of several tables in one turn leaves with one call', async () => {
    await store.set(here, key, Buffer.from('1'));
    await store.set(there, key, Buffer.from('2'));
    await store.set(elsewhere, key, Buffer.from('3'));
    let found: unknown[] = [];
    const read = async (): Promise<void> => {
      const [one, two, page] = await Promise.all([
        store.get(here, key),
        store.get(there, key),
        firstPage(elsewhere, 4),
      ]);
      found = [one?.value, two?.value, page[0]?.value].map(String);
    };
    expect(await sendsOf(read)).toBe(1);
    expect(found).toEqual(['1', '2', '3']);
    expect(messagesOf(Buffer.concat(proxy.sent))).toHaveLength(9);
  });

  test('a page of many entries keeps nobody else waiting', async () => {
    const read = (): Promise<unknown> => Promise.all([store.get(here, key), firstPage(there, 500)]);
    expect(await sendsOf(read)).toBe(2);
  });

  test('a read that fails takes none of its turn with it', async () => {
    await store.set(here, key, Buffer.from('1'));
    const table = `${schema}.kv_${hashPartition(there, 100)}`;
    const both = (): Promise<PromiseSettledResult<unknown>[]> =>
      Promise.allSettled([store.get(there, key), store.get(here, key), firstPage(there, 4)]);
    await admin.query(`ALTER TABLE ${table} RENAME TO gone`);
    expect((await both()).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    await admin.query(`ALTER TABLE ${schema}.gone RENAME TO kv_${hashPartition(there, 100)}`);
    expect((await both()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
  });

  test.each(['first', 'last'])(
    'a read that waits for a lock, the %s of its turn, keeps no other waiting and is answered in the end',
    async (place) => {
      await store.set(here, key, Buffer.from('1'));
      await store.set(there, key, Buffer.from('2'));
      await admin.query('BEGIN');
      await admin.query(`LOCK TABLE ${schema}.kv_${hashPartition(there, 100)} IN ACCESS EXCLUSIVE MODE`);
      let isLocked = true;
      const readLocked = async (): Promise<void> => {
        expect((await store.get(there, key))?.value).toEqual(Buffer.from('2'));
        isLocked = false;
      };
      const first = place === 'first' ? readLocked() : undefined;
      const others = [store.get(here, key), firstPage(elsewhere, 4)];
      const last = place === 'last' ? readLocked() : undefined;
      expect((await Promise.all(others))[0]).toMatchObject({ value: Buffer.from('1') });
      expect(isLocked).toBe(true);
      await admin.query('ROLLBACK');
      await (first ?? last);
    },
  );

  test('with a single connection reads behind a lock are answered when it goes', async () => {
    await store.set(here, key, Buffer.from('1'));
    await store.set(there, key, Buffer.from('2'));
    const single = await open(1);
    await single.get(here, key);
    await admin.query('BEGIN');
    await admin.query(`LOCK TABLE ${schema}.kv_${hashPartition(there, 100)} IN ACCESS EXCLUSIVE MODE`);
    const reads = [single.get(there, key), single.get(here, key)];
    // Long enough for the second to be asked again.
    await delay(1500);
    await admin.query('ROLLBACK');
    expect((await Promise.all(reads)).map((found) => String(found?.value))).toEqual(['2', '1']);
    expect((await single.get(here, key))?.value).toEqual(Buffer.from('1'));
    await single.close();
  });

  test('every read of a turn is told that its connection broke', async () => {
    await store.get(here, key);
    proxy.cutNextAnswer();
    const both = [store.get(here, key), store.get(there, key)];
    for (const each of both) await expect(each).rejects.toMatchObject({ name: 'KvError' });
    expect(await store.get(here, key)).toBeDefined();
  });

  test('a client that the server ends right behind its greeting ends a call, not the process', async () => {
    await store.set(here, key, Buffer.from('1'));
    proxy.endNextClient();
    // More than the connection there is can carry.
    const calls = Array.from({ length: 3 }, () => store.getMany(here, [key]));
    const ends = await Promise.allSettled(calls);
    expect(ends.map(({ status }) => status)).toContain('fulfilled');
    for (const end of ends) {
      if (end.status === 'rejected') expect(end.reason).toMatchObject({ kind: 'unavailable' });
    }
    expect((await store.get(here, key))?.value).toEqual(Buffer.from('1'));
  });

  test('a closed store reads nothing', async () => {
    await store.close();
    await expect(store.get(here, key)).rejects.toMatchObject({ kind: 'closed' });
  });
});

/** The kinds of messages of PostgreSQL's protocol. */
function messagesOf(sent: Buffer): string[] {
  const kinds: string[] = [];
  for (let at = 0; at < sent.length; at += 1 + sent.readInt32BE(at + 1))
    kinds.push(sent.toString('latin1', at, at + 1));
  return kinds;
}
