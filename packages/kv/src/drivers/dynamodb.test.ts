import { scriptedService, type ServiceAnswer } from '@svc/testing';
import { expect, test } from 'vitest';
import type { KvObserver, KvStore } from '../store.ts';
import { openDynamoStore } from './dynamodb.ts';

interface Call {
  readonly action: string;
  readonly input: Record<string, unknown>;
  readonly date: string;
}

const table = {
  TableStatus: 'ACTIVE',
  KeySchema: [
    { AttributeName: 'PartitionKey', KeyType: 'HASH' },
    { AttributeName: 'ItemKey', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'PartitionKey', AttributeType: 'B' },
    { AttributeName: 'ItemKey', AttributeType: 'B' },
  ],
};

const [partition, key, value] = ['p', 'k', 'v'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

function refused(type: string, more: object = {}, status = 400): ServiceAnswer {
  return {
    status,
    body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'said so', ...more },
  };
}

/** A store on a service that gives these answers one after the other, and the last for ever. */
async function storeOn(
  answers: readonly ServiceAnswer[],
  observer: KvObserver = {},
): Promise<{ store: KvStore; calls: Call[] }> {
  const calls: Call[] = [];
  const endpoint = await scriptedService(({ headers, body }) => {
    const action = String(headers['x-amz-target']).replace('DynamoDB_20120810.', '');
    if (action === 'DescribeTable') return { body: { Table: table } };
    calls.push({
      action,
      input: JSON.parse(body) as Record<string, unknown>,
      date: String(headers['x-amz-date']),
    });
    return answers[Math.min(calls.length, answers.length) - 1] ?? {};
  });
  return { store: await open(endpoint, observer), calls };
}

function open(endpoint: string, observer: KvObserver = {}): Promise<KvStore> {
  return openDynamoStore(
    {
      tableName: 'kv',
      scanLimit: 10,
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'id', secretAccessKey: 'kept-to-itself' },
      maxAttempts: 4,
      maxConnections: 4,
      healthCheckIntervalMs: 0,
    },
    observer,
  );
}

test('a throttled call is made again, and asks to slow down when that does not help', async () => {
  const slowed: string[] = [];
  const throttled = refused('ProvisionedThroughputExceededException');
  const observer = { slowDown: (operation: string) => void slowed.push(operation) };
  const { store, calls } = await storeOn([throttled, throttled, throttled, {}, throttled], observer);
  await store.set(partition, key, value);
  expect(calls).toHaveLength(4);
  expect(slowed).toEqual(['PutItem', 'PutItem', 'PutItem']);
  await expect(store.setIf(partition, key, value, 'absent')).rejects.toMatchObject({
    kind: 'slow_down',
    message: expect.stringContaining('raise the capacity') as string,
  });
  expect(calls).toHaveLength(8);
  await store.close();
});

test('a service that fails or hangs up all the time is unavailable', async () => {
  for (const answer of [refused('InternalServerError', {}, 500), { status: 503 }, 'cut'] as const) {
    const { store, calls } = await storeOn([answer]);
    await expect(store.get(partition, key)).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
    expect(calls).toHaveLength(4);
    await store.close();
  }
});

test('a conditional write whose answer was lost is never reported as a failed condition', async () => {
  const failed = refused('ConditionalCheckFailedException');
  for (const lost of ['cut', { status: 500 }] as const) {
    const { store } = await storeOn([lost, failed, failed]);
    await expect(store.setIf(partition, key, value, 'absent')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await store.setIf(partition, key, value, 'absent')).toBe(false);
    await store.close();
  }
  const { store } = await storeOn([refused('ThrottlingException'), failed]);
  expect(await store.setIf(partition, key, value, 'absent')).toBe(false);
  await store.close();
});

test('a transaction whose answer was lost is sent again with its token, another one with a new token', async () => {
  const conflict = refused('TransactionCanceledException', {
    CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
  });
  const there = refused('TransactionCanceledException', {
    CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed' }],
  });
  const { store, calls } = await storeOn(['cut', conflict, there, {}]);
  const changed = await store.change(partition, { key, condition: 'absent' }, [
    { type: 'put', key, value },
    { type: 'create', key: Buffer.from('other'), value },
  ]);
  expect(changed).toBe(true);
  const tokens = calls.map(({ input }) => input['ClientRequestToken']);
  expect(tokens[0]).toBe(tokens[1]);
  expect(new Set(tokens).size).toBe(3);
  expect(calls.map(({ input }) => (input['TransactItems'] as object[]).length)).toEqual([2, 2, 2, 1]);
  await store.close();
});

test('what a batch leaves undone is sent again until it is done', async () => {
  const put = (name: string): object => ({ PutRequest: { Item: { ItemKey: { B: name } } } });
  const { store, calls } = await storeOn([{ body: { UnprocessedItems: { kv: [put('b')] } } }, {}]);
  await store.setMany(partition, [
    { key: Buffer.from('a'), value },
    { key: Buffer.from('b'), value },
  ]);
  expect(calls.map(({ input }) => (input['RequestItems'] as { kv: object[] }).kv.length)).toEqual([2, 1]);
  await store.close();
  const starved = await storeOn([{ body: { UnprocessedItems: { kv: [put('b')] } } }]);
  await expect(starved.store.setMany(partition, [{ key, value }])).rejects.toMatchObject({
    kind: 'slow_down',
  });
  await starved.store.close();
});

test('a clock that is wrong is corrected by that of the service', async () => {
  const ahead = new Date(Date.now() + 3_600_000);
  const skewed = {
    status: 400,
    headers: { date: ahead.toUTCString() },
    body: { __type: 'com.amazon.coral.service#InvalidSignatureException', message: 'Signature expired' },
  };
  const { store, calls } = await storeOn([skewed, {}]);
  await store.set(partition, key, value);
  await store.set(partition, key, value);
  const stamp = ahead.toISOString().replaceAll(/[-:]/g, '').slice(0, 11);
  expect(calls.map(({ date }) => date.startsWith(stamp))).toEqual([false, true, true]);
  await store.close();
});

test('wrong credentials are told at once and without the secret', async () => {
  const { store, calls } = await storeOn([refused('UnrecognizedClientException')]);
  const failure: unknown = await store.get(partition, key).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    kind: 'driver_configuration',
    message: expect.stringContaining('check database.dynamodb.aws_access_key_id') as string,
  });
  expect(String(failure)).not.toContain('kept-to-itself');
  expect(calls).toHaveLength(1);
  await store.close();
});

test('a service that is not there, or refuses, is named when the store is opened', async () => {
  await expect(open('http://127.0.0.1:1')).rejects.toMatchObject({
    kind: 'connect_failed',
    message: expect.stringMatching(
      /^connect failed: DynamoDB at http:\/\/127\.0\.0\.1:1, table "kv": .*ECONNREFUSED.*check database/,
    ) as string,
  });
  const denying = await scriptedService(() => refused('AccessDeniedException'));
  await expect(open(denying)).rejects.toMatchObject({
    kind: 'connect_failed',
    message: expect.stringContaining('AccessDeniedException') as string,
  });
  await expect(open('ftp://127.0.0.1')).rejects.toMatchObject({ kind: 'driver_configuration' });
});
