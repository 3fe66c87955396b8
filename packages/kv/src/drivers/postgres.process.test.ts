import { orSkipReason, startPostgres, waitUntil, type RunningServer } from '@svc/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { KvStore } from '../store.ts';
import { KvError } from '../errors.ts';
import { openPostgresStore } from './postgres.ts';

const server: RunningServer | undefined = await orSkipReason('postgres', startPostgres);
afterAll(() => server?.dispose());

describe.runIf(server !== undefined)('PostgreSQL restarted under load', () => {
  test('the process survives, nothing acknowledged is lost, and calls work again', async () => {
    if (server === undefined) return;
    const store = await open(server);
    const partition = Buffer.from('restart');
    const stop = new AbortController();
    const acknowledged: string[] = [];
    const kinds = new Set<string>();
    let failures = 0;
    const [whileUp, wasUp] = signal();
    const [afterwards, isBack] = signal();
    let restarted = false;

    const writer = async (name: number): Promise<void> => {
      for (let index = 0; !stop.signal.aborted; index++) {
        const key = `${name}/${index}`;
        try {
          await store.setIf(partition, Buffer.from(key), Buffer.from(key), 'absent');
          acknowledged.push(key);
          if (acknowledged.length > 300) wasUp();
          if (restarted) isBack();
        } catch (error) {
          failures++;
          if (!(error instanceof KvError) || !error.retryable) throw error;
          kinds.add(error.kind);
        }
      }
    };
    const load = Promise.all(Array.from({ length: 8 }, (_, name) => writer(name)));
    await whileUp;
    await server.stop();
    await server.start();
    restarted = true;
    await afterwards;
    stop.abort();
    await load;

    expect(failures).toBeGreaterThan(0);
    expect([...kinds]).toContain('unavailable');
    expect(await missing(store, partition, acknowledged)).toEqual([]);
    await server.stop();
    await server.start();
    await waitUntil(() => serves(server), { what: 'PostgreSQL serves again' });
    // Connections that broke while idle are replaced without the caller noticing.
    expect((await store.get(partition, Buffer.from('0/0')))?.value).toEqual(Buffer.from('0/0'));
    await store.close();
  });

  test('a store opened while the server still starts waits for it', async () => {
    if (server === undefined) return;
    await server.stop();
    await server.start();
    const store = await open(server);
    expect((await store.get(Buffer.from('restart'), Buffer.from('0/0')))?.value).toEqual(Buffer.from('0/0'));
    await store.close();
  });
});

function open(running: RunningServer): Promise<KvStore> {
  return openPostgresStore({
    connectionString: running.address['connectionString'] ?? '',
    maxOpenConnections: 8,
    maxIdleConnections: 8,
    connectionMaxLifetimeMs: 0,
    scanPageSize: 1000,
  });
}

/** It accepts connections some time before it serves. */
async function serves(server: RunningServer): Promise<boolean> {
  const client = new Client(server.address['connectionString']);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

function signal(): [Promise<void>, () => void] {
  const { promise, resolve } = Promise.withResolvers<void>();
  return [promise, resolve];
}

async function missing(store: KvStore, partition: Buffer, keys: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for await (const page of store.scan(partition)) for (const entry of page) found.add(entry.value.toString());
  return keys.filter((key) => !found.has(key));
}
