import { cosmosFake, scriptedService, type ServiceAnswer } from '@svc/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CosmosStoreConfig } from '../open-store.ts';
import type { KvStore } from '../store.ts';
import { decode, encode, encodePadded } from './cosmosdb/base32hex.ts';
import { CloudIdentity } from './cosmosdb/identity.ts';
import { openCosmosStore } from './cosmosdb.ts';

const fake = await cosmosFake();
const config: Omit<CosmosStoreConfig, 'type'> = {
  endpoint: fake.endpoint,
  key: fake.key,
  database: 'svc',
  container: 'kv',
  throughput: undefined,
  autoscale: false,
};
const open = (more: Partial<CosmosStoreConfig> = {}): Promise<KvStore> =>
  openCosmosStore({ ...config, ...more }, {}, 4);
const [partition, key, value] = ['p', 'k', 'v'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

describe('cosmosdb', () => {
  beforeEach(() => {
    fake.fault = undefined;
    fake.consistency = 'Strong';
    fake.multipleWriteRegions = false;
  });

  /** The next requests fail like this, one after the other. */
  function failNext(...faults: (ServiceAnswer | 'then cut')[]): void {
    fake.fault = () => faults.shift();
  }

  test('text without padding keeps the order of bytes, and both forms are read', () => {
    const keys = ['', 'a', 'a\u0000', 'a\u0001b', 'aa', 'b', '\u007f'].map((text) => Buffer.from(text));
    expect(keys.map((each) => encode(each)).toSorted()).toEqual(keys.map((each) => encode(each)));
    expect(encodePadded(Buffer.from('fooba'))).toBe('CPNMUOJ1');
    expect(encodePadded(Buffer.from('foob'))).toBe('CPNMUOG=');
    for (const each of keys) {
      expect(decode(encode(each))).toEqual(each);
      expect(decode(encodePadded(each))).toEqual(each);
    }
  });

  test('a container is created with its partition key and the throughput asked for', async () => {
    await (await open({ container: 'manual', throughput: 500 })).close();
    await (await open({ container: 'scaling', throughput: 4000, autoscale: true })).close();
    const manual = fake.containers.get('svc/manual');
    expect(manual?.definition).toMatchObject({ partitionKey: { paths: ['/partitionKey'], kind: 'Hash' } });
    expect(manual?.headers['x-ms-offer-throughput']).toBe('500');
    expect(fake.containers.get('svc/scaling')?.headers['x-ms-cosmos-offer-autopilot-settings']).toBe(
      '{"maxThroughput":4000}',
    );
    const stores = await Promise.all(Array.from({ length: 4 }, () => open({ container: 'at-once' })));
    await Promise.all(stores.map((store) => store.close()));
  });

  test('an account that shows writes late, or writes in several regions, is refused by name', async () => {
    for (const level of ['Session', 'ConsistentPrefix', 'Eventual']) {
      fake.consistency = level;
      await expect(open()).rejects.toMatchObject({
        kind: 'setup_failed',
        message: expect.stringContaining(`default consistency ${level}`) as string,
      });
    }
    fake.consistency = 'BoundedStaleness';
    await (await open()).close();
    fake.multipleWriteRegions = true;
    await expect(open()).rejects.toMatchObject({
      kind: 'setup_failed',
      message: expect.stringContaining('several regions') as string,
    });
  });

  test('a wrong key, a server that is not there and a foreign container are told when the store is opened', async () => {
    await expect(open({ key: Buffer.from('wrong').toString('base64') })).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('status 401') as string,
    });
    await expect(open({ endpoint: 'http://127.0.0.1:1' })).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringMatching(
        /^connect failed: Cosmos DB at http:\/\/127\.0\.0\.1:1, .*ECONNREFUSED/,
      ) as string,
    });
    const foreign = {
      definition: { id: 'foreign', partitionKey: { paths: ['/id'] } },
      headers: {},
      partitions: new Map(),
    };
    (fake.containers as Map<string, object>).set('svc/foreign', foreign);
    await expect(open({ container: 'foreign' })).rejects.toMatchObject({
      kind: 'setup_failed',
      message: expect.stringContaining('is partitioned by /id') as string,
    });
  });

  test('a throttled request is made again after the time it was asked for, and asks to slow down when that does not help', async () => {
    const store = await open();
    const throttled = { status: 429, headers: { 'x-ms-retry-after-ms': '1' } };
    let requests = 0;
    fake.fault = () => (++requests <= 2 ? throttled : undefined);
    await store.set(partition, key, value);
    expect(requests).toBe(3);
    fake.fault = () => throttled;
    await expect(store.get(partition, key)).rejects.toMatchObject({ kind: 'slow_down' });
    // Asked to stay away for longer than a caller waits, it does not try at all.
    requests = 0;
    fake.fault = () => ({ status: 429, headers: { 'x-ms-retry-after-ms': `${++requests * 60_000}` } });
    await expect(store.get(partition, key)).rejects.toMatchObject({ kind: 'slow_down' });
    expect(requests).toBe(1);
    fake.fault = () => ({ status: 503 });
    await expect(store.get(partition, key)).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
    await store.close();
  });

  test('a conditional write whose answer was lost is never reported as a failed condition', async () => {
    const store = await open();
    const guard = { key: Buffer.from('lost-guard'), condition: 'absent' } as const;
    const writes = [
      { type: 'put', key: guard.key, value },
      { type: 'create', key: Buffer.from('lost-other'), value },
    ] as const;
    for (const call of [
      () => store.setIf(partition, Buffer.from('lost'), value, 'absent'),
      () => store.change(partition, guard, writes),
    ]) {
      failNext('then cut');
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
      fake.fault = undefined;
      expect(await call()).toBe(false);
    }
    expect((await store.get(partition, Buffer.from('lost-other')))?.value).toEqual(value);
    await store.close();
  });

  test('a clock that is wrong is corrected by that of the service', async () => {
    const store = await open();
    const ahead = new Date(Date.now() + 3_600_000).toUTCString();
    const dates: string[] = [];
    fake.fault = ({ headers }) => {
      dates.push(String(headers['x-ms-date']));
      return dates.length === 1 ? { status: 401, headers: { date: ahead } } : undefined;
    };
    await store.set(partition, key, value);
    expect(Date.parse(dates[1] ?? '') - Date.parse(dates[0] ?? '')).toBeGreaterThan(3_500_000);
    await store.close();
  });

  test('a container that is removed under the server and a value above 2 MB are errors that say so', async () => {
    const store = await open({ container: 'gone' });
    await expect(store.set(partition, key, Buffer.alloc(1_500_000))).rejects.toMatchObject({
      kind: 'invalid_change',
      message: expect.stringContaining('at most 2 MB') as string,
    });
    (fake.containers as Map<string, object>).delete('svc/gone');
    const gone = { kind: 'unavailable', message: expect.stringContaining('is gone') as string };
    await expect(store.get(partition, key)).rejects.toMatchObject(gone);
    await expect(store.setIf(partition, key, value, 'present')).rejects.toMatchObject(gone);
    await store.close();
  });

  test('tokens come from a client secret, else from the identity of the machine, and are kept', async () => {
    const asked: string[] = [];
    const endpoint = await scriptedService(({ path, body, headers }) => {
      asked.push(`${path} ${body} ${String(headers['x-identity-header'] ?? '')}`);
      return { body: { access_token: 'the-token', expires_in: 3600 } };
    });
    const directory = {
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_ID: 'client',
      AZURE_CLIENT_SECRET: 'secret',
      AZURE_AUTHORITY_HOST: endpoint,
    };
    const identity = new CloudIdentity('https://account.example/', directory);
    expect([await identity.token(), await identity.token()]).toEqual(['the-token', 'the-token']);
    const machine = { IDENTITY_ENDPOINT: `${endpoint}/identity`, IDENTITY_HEADER: 'proof' };
    expect(await new CloudIdentity('https://account.example', machine).token()).toBe('the-token');
    expect(asked).toEqual([
      '/tenant/oauth2/v2.0/token grant_type=client_credentials&client_id=client&scope=https%3A%2F%2Faccount.example%2F.default&client_secret=secret ',
      '/identity?api-version=2019-08-01&resource=https%3A%2F%2Faccount.example  proof',
    ]);
  });
});
