import { randomUUID } from 'node:crypto';
import { cosmosFake, noteSecret, testServerOrSkip } from '@svc/testing';
import { expect, test } from 'vitest';
import { runSvc } from './start-server.ts';
import { walkOnStore } from './store-tour.ts';

const dynamodb = await testServerOrSkip('dynamodb');

test.runIf(dynamodb !== undefined)('a server on DynamoDB', async () => {
  const metrics = await walkOnStore({
    SVC_DATABASE_TYPE: 'dynamodb',
    SVC_DATABASE_DYNAMODB_TABLE_NAME: `tour-${randomUUID()}`,
    SVC_DATABASE_DYNAMODB_ENDPOINT: dynamodb?.endpoint ?? '',
    SVC_DATABASE_DYNAMODB_AWS_REGION: dynamodb?.region ?? '',
    SVC_DATABASE_DYNAMODB_AWS_ACCESS_KEY_ID: dynamodb?.accessKeyId ?? '',
    SVC_DATABASE_DYNAMODB_AWS_SECRET_ACCESS_KEY: dynamodb?.secretAccessKey ?? '',
  });
  expect(metrics).toMatch(/dynamo_consumed_capacity_total\{operation="TransactWriteItems"\} [1-9]/);
  expect(metrics).toMatch(/kv_request_duration_seconds_count\{.*type="dynamodb"/);
});

test('a server on Cosmos DB, as its documentation describes it', async () => {
  const fake = await cosmosFake();
  noteSecret('the key of Cosmos DB', fake.key);
  const metrics = await walkOnStore({
    SVC_DATABASE_TYPE: 'cosmosdb',
    SVC_DATABASE_COSMOSDB_ENDPOINT: fake.endpoint,
    SVC_DATABASE_COSMOSDB_KEY: fake.key,
    SVC_DATABASE_COSMOSDB_DATABASE: 'svc',
    SVC_DATABASE_COSMOSDB_CONTAINER: 'kv',
  });
  expect(metrics).toMatch(/kv_request_duration_seconds_count\{.*type="cosmosdb"/);
});

test('a store that is not there ends the start with its address', async () => {
  const { code, stderr } = await runSvc(['run', '--local-settings'], {
    // The default port may be that of a server that somebody tries out meanwhile.
    SVC_LISTEN_ADDRESS: '127.0.0.1:0',
    SVC_DATABASE_TYPE: 'dynamodb',
    SVC_DATABASE_DYNAMODB_ENDPOINT: 'http://127.0.0.1:1',
    SVC_DATABASE_DYNAMODB_AWS_ACCESS_KEY_ID: 'id',
    SVC_DATABASE_DYNAMODB_AWS_SECRET_ACCESS_KEY: 'never-to-be-logged',
    SVC_DATABASE_DYNAMODB_MAX_ATTEMPTS: '2',
  });
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('connect failed: DynamoDB at http://127.0.0.1:1') as string,
  });
});
