import { mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { lakefsSpark, runCommand, startVersitygw, tempDir, type RunningServer } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc, type RunningSvc } from './start-server.ts';

const timeout = 900_000;
const dayMs = 86_400_000;
/** Spark reaches into these. */
const opened = ['lang', 'lang.invoke', 'io', 'net', 'nio', 'util', 'util.concurrent'].map(
  (name) => `java.${name}`,
);
const hidden = ['sun.nio.ch', 'sun.nio.cs', 'sun.security.action', 'sun.util.calendar'];

let store: RunningServer;
let svc: RunningSvc;

beforeAll(async () => {
  store = await startVersitygw();
  const { endpoint = '', folder = '', accessKeyId = '', secretAccessKey = '' } = store.address;
  mkdirSync(join(folder, 'bucket'));
  svc = await startSvc([], {
    SVC_BLOCKSTORE_TYPE: 's3',
    SVC_BLOCKSTORE_S3_ENDPOINT: endpoint,
    SVC_BLOCKSTORE_S3_REGION: 'us-east-1',
    SVC_BLOCKSTORE_S3_FORCE_PATH_STYLE: 'true',
    SVC_BLOCKSTORE_S3_CREDENTIALS_ACCESS_KEY_ID: accessKeyId,
    SVC_BLOCKSTORE_S3_CREDENTIALS_SECRET_ACCESS_KEY: secretAccessKey,
    SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
    SVC_DATABASE_TYPE: 'local',
    SVC_INSTALLATION_USER_NAME: 'admin',
    SVC_INSTALLATION_ACCESS_KEY_ID: quickstartKey.accessKeyId,
    SVC_INSTALLATION_SECRET_ACCESS_KEY: quickstartKey.secretAccessKey,
    // Where that client looks for what it needs.
    SVC_COMMITTED_BLOCK_STORAGE_PREFIX: '_lakefs',
  });
}, timeout);

afterAll(async () => {
  await svc?.stop();
  await store?.dispose();
});

async function ask(method: string, path: string, body?: object | string): Promise<Record<string, unknown>> {
  const type = typeof body === 'string' ? 'application/octet-stream' : 'application/json';
  const response = await fetch(`${svc.url}/api/v1/repositories${path}`, {
    method,
    headers: { authorization: quickstartAuth, 'content-type': type },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

async function upload(path: string, content: string): Promise<string> {
  const made = await ask('POST', `/spark/branches/main/objects?path=${path}`, content);
  return String(made['physical_address']).split('/').at(-1) ?? '';
}

const dataFolder = (): string => join(store.address['folder'] ?? '', 'bucket/spark/data');

function dataFiles(): string[] {
  const files = readdirSync(dataFolder(), { recursive: true, withFileTypes: true });
  return files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function collectWithSpark(): Promise<void> {
  const { endpoint, accessKeyId, secretAccessKey } = store.address;
  const settings = {
    'spark.master': 'local[1]',
    'spark.app.name': 'collector',
    'spark.ui.enabled': 'false',
    'spark.driver.host': '127.0.0.1',
    'spark.driver.bindAddress': '127.0.0.1',
    'spark.sql.shuffle.partitions': '2',
    'spark.hadoop.lakefs.api.url': `${svc.url}/api/v1`,
    'spark.hadoop.lakefs.api.access_key': quickstartKey.accessKeyId,
    'spark.hadoop.lakefs.api.secret_key': quickstartKey.secretAccessKey,
    'spark.hadoop.fs.s3a.endpoint': endpoint,
    'spark.hadoop.fs.s3a.access.key': accessKeyId,
    'spark.hadoop.fs.s3a.secret.key': secretAccessKey,
    'spark.hadoop.fs.s3a.path.style.access': 'true',
    'spark.hadoop.fs.s3a.connection.ssl.enabled': 'false',
    'spark.hadoop.fs.s3.impl': 'org.apache.hadoop.fs.s3a.S3AFileSystem',
  };
  await runCommand(
    'java',
    [
      ...[...opened, ...hidden].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
      '-cp',
      await lakefsSpark(),
      ...Object.entries(settings).map(([name, value]) => `-D${name}=${value ?? ''}`),
      'io.treeverse.gc.GarbageCollection',
      'spark',
      'us-east-1',
    ],
    { cwd: tempDir('spark'), env: { ...process.env, SPARK_LOCAL_IP: '127.0.0.1' } },
  );
}

it('the published collector for Spark deletes what nothing uses, and nothing else', { timeout }, async () => {
  await ask('POST', '', { name: 'spark', storage_namespace: 's3://bucket/spark' });
  const committed = await upload('a', 'committed');
  await ask('POST', '/spark/branches/main/commits', { message: 'm' });
  await upload('b', 'overwritten while it was staged');
  const staged = [await upload('b', 'staged'), await upload('a', 'staged over a commit')];
  await upload('c', 'deleted while it was staged');
  await ask('DELETE', '/spark/branches/main/objects?path=c');
  const old = new Date(Date.now() - 3 * dayMs);
  for (const file of dataFiles()) utimesSync(file, old, old);
  const young = [await upload('d', 'overwritten lately'), await upload('d', 'young')];
  expect(dataFiles()).toHaveLength(7);
  await collectWithSpark();
  const left = dataFiles().map((file) => file.split('/').at(-1) ?? '');
  expect(left.sort()).toEqual([committed, ...staged, ...young].sort());
});
