import { orSkipReason, startDynamoDb } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { KvError } from '../errors.ts';
import type { KvWrite } from '../store.ts';
import { openDynamoStore } from './dynamodb.ts';

const server = await orSkipReason('dynamodb', () => startDynamoDb('disk'));
afterAll(() => server?.dispose());

test.runIf(server !== undefined)(
  'a service that goes away under load: nothing acknowledged is lost, no change is half made, and calls work again',
  async () => {
    if (server === undefined) return;
    const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = server.address;
    const store = await openDynamoStore({
      tableName: 'restart',
      scanLimit: 1025,
      endpoint,
      region,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: 2,
      maxConnections: 8,
      healthCheckIntervalMs: 0,
    });
    const partition = Buffer.from('restart');
    const acknowledged: string[] = [];
    const stop = new AbortController();
    let failures = 0;
    let restarted = false;
    const { promise: underWay, resolve: wasUp } = Promise.withResolvers<void>();
    const { promise: again, resolve: isBack } = Promise.withResolvers<void>();
    const writer = async (lane: number): Promise<void> => {
      const guard = Buffer.from(`head/${lane}`);
      for (let index = 0; !stop.signal.aborted; index++) {
        const change = `${lane}-${index}`;
        const writes: KvWrite[] = Array.from({ length: 4 }, (_, part) => ({
          type: 'create',
          key: Buffer.from(`part/${change}/${part}`),
          value: Buffer.from(change),
        }));
        writes.push({ type: 'put', key: guard, value: Buffer.from(change) });
        try {
          const head = await store.get(partition, guard);
          const condition = head?.predicate ?? 'absent';
          if (await store.change(partition, { key: guard, condition }, writes)) acknowledged.push(change);
          if (acknowledged.length > 30) wasUp();
          if (restarted) isBack();
        } catch (error) {
          failures++;
          if (!(error instanceof KvError) || !error.retryable) throw error;
        }
      }
    };
    const load = Promise.all(Array.from({ length: 4 }, (_, lane) => writer(lane)));
    await underWay;
    await server.stop();
    await server.start();
    restarted = true;
    await again;
    stop.abort();
    await load;
    const parts = new Map<string, number>();
    for await (const page of store.scan(partition, { prefix: Buffer.from('part/') })) {
      for (const { value } of page) parts.set(String(value), (parts.get(String(value)) ?? 0) + 1);
    }
    expect(failures).toBeGreaterThan(0);
    expect([...parts.values()].filter((count) => count !== 4)).toEqual([]);
    expect(acknowledged.filter((change) => !parts.has(change))).toEqual([]);
    await store.close();
  },
);
