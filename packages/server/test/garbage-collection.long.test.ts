import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, tempDir, waitUntil, type RunningServer } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const dayMs = 86_400_000;
const garbage = 30;
const minutes = 60_000;

let postgres: RunningServer;
let servers: RunningSvc[] = [];
/** Of both servers. */
const objects = tempDir();

function environment(): Record<string, string> {
  return {
    SVC_DATABASE_TYPE: 'postgres',
    SVC_DATABASE_POSTGRES_CONNECTION_STRING: postgres.address['connectionString'] ?? '',
    SVC_BLOCKSTORE_TYPE: 'local',
    SVC_BLOCKSTORE_LOCAL_PATH: objects,
    SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
    SVC_GC_DELETES_PER_SECOND: '1',
    SVC_GC_MAX_PERCENT: '100',
  };
}

async function ask(
  server: RunningSvc,
  method: string,
  path: string,
  body?: string,
  type = 'application/json',
) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: quickstartAuth, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, body: (text === '' ? {} : safely(text)) as Record<string, unknown> };
}

function safely(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const dataFolder = (): string => join(objects, 'repo');
const dataFiles = (): string[] => filesBelow(join(dataFolder(), 'data'));

beforeAll(async () => {
  postgres = await startPostgres();
  const { accessKeyId: key, secretAccessKey: secret } = quickstartKey;
  const setup = ['setup', '--user-name', 'admin', '--access-key-id', key, '--secret-access-key', secret];
  expect(await runSvc(setup, environment())).toMatchObject({ code: 0 });
  // A server of ten days ago writes what is garbage today.
  const past = await startSvc([], {
    ...environment(),
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'fixtures/shifted-clock.mjs')}`,
    SVC_SHIFTED_CLOCK_MS: String(-10 * dayMs),
  });
  const creation = { name: 'repo', storage_namespace: 'local://repo' };
  const created = await ask(past, 'POST', '/repositories', JSON.stringify(creation));
  expect(created, JSON.stringify(created.body)).toMatchObject({ status: 201 });
  for (let index = 0; index <= garbage; index += 1) {
    const path = `/repositories/repo/branches/main/objects?path=a`;
    expect((await ask(past, 'POST', path, `version ${index}`, 'application/octet-stream')).status).toBe(201);
  }
  const commit = await ask(past, 'POST', '/repositories/repo/branches/main/commits', '{"message":"m"}');
  expect(commit.status).toBe(201);
  await past.stop();
  const old = new Date(Date.now() - 10 * dayMs);
  for (const file of filesBelow(dataFolder())) utimesSync(file, old, old);
  servers = [await startSvc([], environment()), await startSvc([], environment())];
}, 3 * minutes);

afterAll(async () => {
  for (const server of servers) server.signal('SIGKILL');
  await postgres?.dispose();
});

it(
  'of two servers one collects; stopped in the middle of its deletes it deletes nothing more when it goes on',
  { timeout: 8 * minutes },
  async () => {
    const [one, two] = servers as [RunningSvc, RunningSvc];
    const start = JSON.stringify({ hard: true, classes: ['objects'] });
    const starts = await Promise.all(
      servers.map((server) => ask(server, 'POST', '/repositories/repo/gc/runs', start)),
    );
    expect(starts.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
    const run = String(starts.find(({ status }) => status === 202)?.body['id']);
    const before = dataFiles().length;
    expect(before).toBe(garbage + 1);
    // After the second look it deletes two in two seconds.
    await waitUntil(() => dataFiles().length < before - 4 || undefined, {
      timeoutMs: 3 * minutes,
      what: 'the first deletes',
    });
    const isCollecting = ({ stdout }: RunningSvc): boolean => stdout.includes('garbage collection started');
    const [stopped, alive] = isCollecting(one) ? [one, two] : [two, one];
    expect([isCollecting(stopped), isCollecting(alive)]).toEqual([true, false]);
    const stoppedPids = [stopped.pid, ...stopped.childPids()];
    for (const pid of stoppedPids) process.kill(pid, 'SIGSTOP');
    const state = async (): Promise<unknown> =>
      (await ask(alive, 'GET', `/repositories/repo/gc/runs/${run}`)).body['state'];
    await waitUntil(async () => (await state()) === 'failed', {
      timeoutMs: 2 * minutes,
      what: 'the run to be given up',
    });
    const remaining = dataFiles().length;
    for (const pid of stoppedPids) process.kill(pid, 'SIGCONT');
    await waitUntil(() => stopped.stdout.includes('garbage collection ended'), {
      timeoutMs: minutes,
      what: 'the stopped server to notice',
    });
    expect(dataFiles().length).toBe(remaining);
    // The next run goes on where it stopped.
    const again = await ask(alive, 'POST', '/repositories/repo/gc/runs', start);
    expect(again.status).toBe(202);
    await waitUntil(() => dataFiles().length === 1 || undefined, {
      timeoutMs: 5 * minutes,
      what: 'the rest to be deleted',
    });
    const object = await fetch(`${alive.url}/api/v1/repositories/repo/refs/main/objects?path=a`, {
      headers: { authorization: quickstartAuth },
    });
    expect(await object.text()).toBe(`version ${garbage}`);
  },
);
