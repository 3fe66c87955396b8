import { BlockStores, createMemAdapter } from '@svc/block';
import { createMemStore } from '@svc/kv';
import type { Engine } from '@svc/engine';
import { expect, test } from 'vitest';
import { loadConfig } from '../config/index.ts';
import { describeStartError } from '../processes/start-error.ts';
import { findMismatchedRepositories } from './repository-check.ts';
import { checkSchemaVersion, readSchemaVersion } from './schema-version.ts';
import {
  blockStoreConfigs,
  keepsStateInMemory,
  kvStoreConfig,
  shareOf,
  unevenShareOf,
} from './store-configs.ts';

const version = [Buffer.from('kv-internal-metadata'), Buffer.from('kv/schema/version')] as const;

test('a new store is marked; a newer, older or unreadable one is refused', async () => {
  const kv = createMemStore();
  expect(await readSchemaVersion(kv)).toBeUndefined();
  await checkSchemaVersion(kv);
  expect(await readSchemaVersion(kv)).toBe(4);
  await checkSchemaVersion(kv);
  await kv.set(...version, Buffer.from('5'));
  await expect(checkSchemaVersion(kv)).rejects.toThrow('incompatible');
  for (const old of ['3', '0']) {
    await kv.set(...version, Buffer.from(old));
    await expect(checkSchemaVersion(kv)).rejects.toThrow('migration required');
  }
  await kv.set(...version, Buffer.from('x'));
  await expect(checkSchemaVersion(kv)).rejects.toThrow('unreadable');
});

test('limits are divided among the processes, but never to nothing', () => {
  expect(shareOf(25, 3)).toBe(8);
  expect(shareOf(2, 3)).toBe(1);
  expect(shareOf(0, 3)).toBe(0);
  expect(unevenShareOf(1000, 1)).toBe(1000);
  expect(unevenShareOf(1000, 2)).toBe(750);
});

function configOf(env: Record<string, string>) {
  return loadConfig({ env, cwd: '/nowhere', preset: 'local-settings' }).config;
}

test('store settings reach the drivers', () => {
  const postgres = configOf({
    SVC_DATABASE_TYPE: 'postgres',
    SVC_DATABASE_POSTGRES_MAX_OPEN_CONNECTIONS: '9',
  });
  expect(kvStoreConfig(postgres, 3)).toMatchObject({
    type: 'postgres',
    maxOpenConnections: 3,
    connectionMaxLifetimeMs: 300_000,
  });
  const dynamodb = configOf({
    SVC_DATABASE_TYPE: 'dynamodb',
    SVC_DATABASE_DYNAMODB_TABLE_NAME: 'svc',
    SVC_DATABASE_DYNAMODB_SCAN_LIMIT: '7',
    SVC_DATABASE_DYNAMODB_ENDPOINT: 'http://x',
    SVC_DATABASE_DYNAMODB_AWS_REGION: 'eu-west-1',
    SVC_DATABASE_DYNAMODB_AWS_PROFILE: 'work',
    SVC_DATABASE_DYNAMODB_AWS_ACCESS_KEY_ID: 'id',
    SVC_DATABASE_DYNAMODB_AWS_SECRET_ACCESS_KEY: 'key',
    SVC_DATABASE_DYNAMODB_HEALTH_CHECK_INTERVAL: '1m',
    SVC_DATABASE_DYNAMODB_MAX_ATTEMPTS: '4',
    SVC_DATABASE_DYNAMODB_MAX_CONNECTIONS: '30',
  });
  expect(kvStoreConfig(dynamodb, 3)).toEqual({
    type: 'dynamodb',
    tableName: 'svc',
    scanLimit: 7,
    endpoint: 'http://x',
    region: 'eu-west-1',
    profile: 'work',
    credentials: { accessKeyId: 'id', secretAccessKey: 'key' },
    maxAttempts: 4,
    maxConnections: 10,
    healthCheckIntervalMs: 60_000,
  });
  const cosmosdb = configOf({
    SVC_DATABASE_TYPE: 'cosmosdb',
    SVC_DATABASE_COSMOSDB_ENDPOINT: 'https://x',
    SVC_DATABASE_COSMOSDB_DATABASE: 'd',
    SVC_DATABASE_COSMOSDB_CONTAINER: 'c',
    SVC_DATABASE_COSMOSDB_KEY: 'a2V5',
    SVC_DATABASE_COSMOSDB_THROUGHPUT: '400',
    SVC_DATABASE_COSMOSDB_AUTOSCALE: 'true',
  });
  expect(kvStoreConfig(cosmosdb, 3)).toEqual({
    type: 'cosmosdb',
    endpoint: 'https://x',
    database: 'd',
    container: 'c',
    key: 'a2V5',
    throughput: 400,
    autoscale: true,
  });
  expect(keepsStateInMemory(postgres)).toBe(false);
  expect(keepsStateInMemory(configOf({ SVC_BLOCKSTORE_TYPE: 'mem' }))).toBe(true);
  expect(keepsStateInMemory(configOf({ SVC_DATABASE_LOCAL_PATH: 'memory:' }))).toBe(true);
  const s3 = configOf({
    SVC_BLOCKSTORE_TYPE: 's3',
    SVC_BLOCKSTORE_S3_ENDPOINT: 'http://x',
    SVC_BLOCKSTORE_S3_FORCE_PATH_STYLE: 'true',
  });
  expect(blockStoreConfigs(s3)).toMatchObject([
    { type: 's3', id: '', endpoint: 'http://x', forcePathStyle: true, credentials: undefined },
  ]);
  const stores = [
    {
      id: 'a',
      type: 'azure',
      azure: { storage_account: 'acc', storage_access_key: 'a2V5', china_cloud: true, try_timeout: '5s' },
    },
    {
      id: 'g',
      type: 'gs',
      gs: { credentials_json: '{}', pre_signed_expiry: '1m' },
      backward_compatible: true,
    },
  ];
  const cloud = loadConfig({
    env: {
      SVC_DATABASE_TYPE: 'mem',
      SVC_AUTH_ENCRYPT_SECRET_KEY: 'a long enough secret',
      SVC_BLOCKSTORES_SIGNING_SECRET_KEY: 'secret',
      SVC_BLOCKSTORES_STORES: JSON.stringify(stores),
    },
    cwd: '/nowhere',
  }).config;
  expect(blockStoreConfigs(cloud)).toMatchObject([
    {
      type: 'azure',
      id: 'a',
      storageAccount: 'acc',
      storageAccessKey: 'a2V5',
      authMethod: 'access-key',
      domain: 'blob.core.chinacloudapi.cn',
      tryTimeoutMs: 5000,
      disablePreSignedUi: true,
    },
    { type: 'gs', id: 'g', credentialsJson: '{}', preSignedExpiryMs: 60_000, backwardCompatible: true },
  ]);
});

test('repositories on a store of another type are named', async () => {
  const blocks = new BlockStores([createMemAdapter({})]);
  const list = (repositories: object[]) =>
    ({
      repositories: { list: () => Promise.resolve({ items: repositories, hasMore: false, nextOffset: '' }) },
    }) as unknown as Engine;
  expect(
    await findMismatchedRepositories(list([{ id: 'a', storageId: '', storageNamespace: 'mem://x' }]), blocks),
  ).toEqual([]);
  const problems = await findMismatchedRepositories(
    list([
      { id: 'other', storageId: '', storageNamespace: 'gs://bucket' },
      { id: 'lost', storageId: 'gone', storageNamespace: 'mem://x' },
    ]),
    blocks,
  );
  expect(problems).toEqual([
    expect.stringContaining('repository "other" (gs://bucket)'),
    expect.stringContaining('"gone" is not configured'),
  ]);
});

test('errors of the operating system become advice', () => {
  const system = (code: string, more: object) => Object.assign(new Error(code), { code, ...more });
  const config = { listen_address: '0.0.0.0:80' };
  expect(describeStartError(system('EADDRINUSE', { syscall: 'listen' }), config)).toContain(
    'SVC_LISTEN_ADDRESS=',
  );
  expect(describeStartError(system('EACCES', { syscall: 'listen' }), config)).toContain('above 1023');
  expect(describeStartError(system('EADDRNOTAVAIL', { syscall: 'listen' }), config)).toContain(
    'no such address',
  );
  expect(describeStartError(system('ENOSPC', { syscall: 'write', path: '/data' }), config)).toContain(
    'no space left at /data',
  );
  expect(describeStartError(system('EACCES', { syscall: 'mkdir', path: '/data' }), config)).toContain(
    'cannot write to /data',
  );
  expect(describeStartError(new Error('plain'), config)).toBe('plain');
});
