import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFaultProxy, testServerOrSkip, type AwsServer } from '@svc/testing';
import { describeKvStore } from '@svc/kv/suite';
import { describe, expect, test } from 'vitest';
import type { DynamoStoreConfig } from '../open-store.ts';
import type { KvStore } from '../store.ts';
import { DynamoClient } from './dynamodb/client.ts';
import { openCredentials } from './dynamodb/credentials.ts';
import { openDynamoStore } from './dynamodb.ts';

const local = await testServerOrSkip('dynamodb');
const moto = await testServerOrSkip('moto');
/** Sees what the suite asks for. */
const recorder = local && (await startFaultProxy(local.endpoint, () => 'pass'));

const configFor = (server: AwsServer | undefined, tableName: string): Omit<DynamoStoreConfig, 'type'> => ({
  tableName,
  scanLimit: 1025,
  endpoint: server?.endpoint,
  region: server?.region,
  credentials: server,
  maxAttempts: 10,
  maxConnections: 64,
  healthCheckIntervalMs: 0,
});

/** A client beside the store, to do with tables what the store never does. */
async function clientOf(server: AwsServer | undefined): Promise<DynamoClient> {
  const { endpoint, region = '', maxAttempts } = configFor(server, '');
  const options = { endpoint, region, maxAttempts, maxConnections: 1, observer: {} };
  return new DynamoClient(options, await openCredentials({ credentials: server }));
}

async function listed<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const each of all) found.push(each);
  return found;
}

const bytes = (text: string): Buffer => Buffer.from(text);
const partition = bytes('p');

describe.runIf(local !== undefined)('on DynamoDB Local', () => {
  const suiteTable = `suite-${randomUUID()}`;
  // Many more than its largest batch; the emulator takes a second for 500.
  const recorded = local && recorder && { ...local, endpoint: recorder.endpoint };
  describeKvStore('dynamodb', () => openDynamoStore(configFor(recorded, suiteTable)), 2_000);

  test('it needs the permissions that the documentation names, and no other', async () => {
    await recorder?.close();
    const actions = new Set(
      recorder?.seen.map(({ headers }) => String(headers['x-amz-target']).split('.')[1]),
    );
    // A transaction has no permission of its own.
    expect(actions.delete('TransactWriteItems')).toBe(true);
    for (const each of ['PutItem', 'DeleteItem', 'ConditionCheckItem']) actions.add(each);
    const page = join(import.meta.dirname, '../../../../docs/deployment/dynamodb.md');
    const documented = readFileSync(page, 'utf8').match(/(?<=dynamodb:)[A-Z]\w+/g) ?? [];
    expect(new Set<string | undefined>(documented)).toEqual(actions);
  });

  test('servers starting at once on an empty account all come up', async () => {
    const tableName = `start-${randomUUID()}`;
    const stores = await Promise.all(
      Array.from({ length: 5 }, () => openDynamoStore(configFor(local, tableName))),
    );
    await Promise.all(stores.map((store, index) => store.set(partition, bytes(`${index}`), bytes('v'))));
    expect((await stores[0]?.scan(partition).next())?.value).toHaveLength(5);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('a provisioned table serves as it is, one of another shape is refused by name', async () => {
    const client = await clientOf(local);
    const tableName = `provisioned-${randomUUID()}`;
    const ProvisionedThroughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
    const keys = (partitionType: string): object => ({
      KeySchema: [
        { AttributeName: 'PartitionKey', KeyType: 'HASH' },
        { AttributeName: 'ItemKey', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'PartitionKey', AttributeType: partitionType },
        { AttributeName: 'ItemKey', AttributeType: 'B' },
      ],
    });
    await client.call('CreateTable', { TableName: tableName, ProvisionedThroughput, ...keys('B') });
    await client.call('CreateTable', { TableName: `${tableName}-s`, ProvisionedThroughput, ...keys('S') });
    const store = await openDynamoStore(configFor(local, tableName));
    await store.set(partition, bytes('k'), bytes('v'));
    expect((await store.get(partition, bytes('k')))?.value).toEqual(bytes('v'));
    await store.close();
    await expect(openDynamoStore(configFor(local, `${tableName}-s`))).rejects.toMatchObject({
      kind: 'setup_failed',
      message: expect.stringContaining('ItemKey (RANGE, binary)') as string,
    });
    await client.close();
  });

  test('a table that is removed under the server is an error that says so', async () => {
    const tableName = `gone-${randomUUID()}`;
    const store = await openDynamoStore(configFor(local, tableName));
    await store.set(partition, bytes('k'), bytes('v'));
    const client = await clientOf(local);
    await client.call('DeleteTable', { TableName: tableName });
    const gone = { kind: 'unavailable', message: expect.stringContaining('is gone') as string };
    await expect(store.get(partition, bytes('k'))).rejects.toMatchObject(gone);
    await expect(store.setIf(partition, bytes('k'), bytes('v'), 'absent')).rejects.toMatchObject(gone);
    await expect(
      store.change(partition, { key: bytes('g'), condition: 'any' }, [
        { type: 'put', key: bytes('a'), value: bytes('v') },
        { type: 'put', key: bytes('b'), value: bytes('v') },
      ]),
    ).rejects.toMatchObject(gone);
    await store.close();
    await client.close();
  });

  test('a large value leaves no parts behind when it is replaced, deleted or refused', async () => {
    const tableName = `large-${randomUUID()}`;
    const store = await openDynamoStore(configFor(local, tableName));
    const client = await clientOf(local);
    const items = async (): Promise<number> =>
      (await client.call<{ Count: number }>('Scan', { TableName: tableName, Select: 'COUNT' })).output.Count;
    const large = Buffer.alloc(1_000_000, 7);
    await store.set(partition, bytes('k'), large);
    expect(await items()).toBe(4);
    expect(await store.setIf(partition, bytes('k'), large, 'absent')).toBe(false);
    expect(await store.setIf(partition, bytes('k'), large, 'present')).toBe(true);
    expect(await items()).toBe(4);
    const read = await store.get(partition, bytes('k'));
    const guard = { key: bytes('k'), condition: read?.predicate ?? 'absent' } as const;
    const writes = [
      { type: 'put', key: bytes('k'), value: bytes('small') },
      { type: 'create', key: bytes('m'), value: large },
    ] as const;
    expect(await store.change(partition, guard, writes)).toBe(true);
    expect(await items()).toBe(5);
    expect(await store.change(partition, guard, writes)).toBe(false);
    const any = { key: bytes('k'), condition: 'any' } as const;
    expect(await store.change(partition, any, writes)).toBe(true);
    expect(await items()).toBe(5);
    expect(await listed(store.partitions())).toEqual([partition]);
    await store.delete(partition, bytes('m'));
    expect(await items()).toBe(1);
    await store.close();
    await client.close();
  });
});

// Its transactions are not isolated from each other, so it is asked one thing at a time.
describe.runIf(moto !== undefined)('a second opinion: moto', () => {
  test('conditions, transactions, bulk calls and pages', async () => {
    const store: KvStore = await openDynamoStore({
      ...configFor(moto, `moto-${randomUUID()}`),
      scanLimit: 7,
    });
    const [key, other] = [bytes('key'), bytes('other')];
    expect(await store.setIf(partition, key, bytes(''), 'absent')).toBe(true);
    expect(await store.setIf(partition, key, bytes('1'), 'absent')).toBe(false);
    const read = await store.get(partition, key);
    expect(read?.value).toEqual(bytes(''));
    const guard = { key, condition: read?.predicate ?? 'absent' } as const;
    const change = (): Promise<boolean> =>
      store.change(partition, guard, [
        { type: 'put', key, value: bytes('2') },
        { type: 'create', key: other, value: bytes('2') },
        { type: 'delete', key: bytes('never there') },
      ]);
    expect([await change(), await change()]).toEqual([true, false]);
    expect(
      await store.change(partition, { key, condition: 'present' }, [
        { type: 'create', key: other, value: bytes('3') },
        { type: 'create', key: bytes('third'), value: bytes('3') },
      ]),
    ).toBe(true);
    const found = await store.getMany(partition, [other, bytes('none'), key, other]);
    expect(found.map((each) => each?.value.toString())).toEqual(['2', undefined, '2', '2']);
    const many = Array.from({ length: 60 }, (_, index) => bytes(`many/${String(index).padStart(2, '0')}`));
    await store.setMany(
      partition,
      many.map((each) => ({ key: each, value: each })),
    );
    const pages = await listed(store.scan(partition, { prefix: bytes('many/'), batch: 3 }));
    expect(pages.flat().map((entry) => entry.key)).toEqual(many);
    expect(pages.slice(0, 3).map((page) => page.length)).toEqual([3, 6, 7]);
    await store.deleteMany(partition, many);
    expect((await listed(store.scan(partition))).flat()).toHaveLength(3);
    await store.close();
  });
});
