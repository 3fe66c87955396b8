// Two or more builds in turns, each on a PostgreSQL and an S3 server of its own on this machine: what single calls of one
// client take, and what they cost server, database and object store in processor time.
//   node bench/src/history-turns.ts [--objects 50000] [--rounds 20] [dist of another build …]; needs `npm run build`
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Api, median, timed } from './driver/api.ts';
import { runLoad } from './driver/http-load.ts';
import { processorMsOf } from './driver/processor-time.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer } from './driver/start-server.ts';
import { keyOf } from './scenarios/bench.ts';
import { fillBucket } from './scenarios/import.ts';
import { Requests } from './scenarios/requests.ts';

const { values, positionals } = parseArgs({
  options: { objects: { type: 'string', default: '50000' }, rounds: { type: 'string', default: '20' } },
  allowPositionals: true,
});
const own = resolve(import.meta.dirname, '..', '..', 'dist');
const objects = Number(values.objects);
const content = Buffer.alloc(100, 'x');
const costs = ['Server', 'Database', 'Object store'] as const;

interface Build {
  readonly name: string;
  readonly api: Api;
  /** Processor time so far, in ms, as `costs` names it. */
  spent(): number[];
  stop(): Promise<void>;
}

interface Measured {
  readonly times: number[];
  readonly spent: number[][];
}

const rows = new Map<string, Measured>();

async function measure(build: Build, name: string, call: () => Promise<unknown>): Promise<void> {
  const before = build.spent();
  const { milliseconds } = await timed(call);
  const row = `${name} | ${build.name}`;
  const measured = rows.get(row) ?? { times: [], spent: [] };
  measured.times.push(milliseconds);
  measured.spent.push(build.spent().map((ms, index) => ms - (before[index] ?? 0)));
  rows.set(row, measured);
}

async function start(dist: string): Promise<Build> {
  const folder = mkdtempSync(join(tmpdir(), 'history-turns-'));
  const stores = await startRemoteStores();
  await fillBucket(stores.objectStore, 'import', objects);
  const server = await startServer(folder, folder, stores.settings, dist);
  await setUp(server);
  const api = new Api(server.endpoint, server.credentials);
  return {
    name: dist,
    api,
    spent: () => [server.memory.processorMs(), processorMsOf('postgres'), processorMsOf('versitygw')],
    stop: async () => {
      await server.stop();
      await stores.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function importAll({ api }: Build, repository: string): Promise<void> {
  const target = `/repositories/${repository}/branches/main/import`;
  const { id } = await api.call<{ id: string }>('POST', target, {
    paths: [{ path: 's3://import/', destination: '', type: 'common_prefix' }],
    commit: { message: 'import' },
  });
  for (;;) {
    const status = await api.call<{ completed: boolean; error?: object }>('GET', `${target}?id=${id}`);
    if (status.error !== undefined) throw new Error(JSON.stringify(status.error));
    if (status.completed) return;
    await delay(10);
  }
}

async function importRound(build: Build, round: number): Promise<void> {
  const repository = `import${round}`;
  const storage = `s3://bench/${repository}`;
  await build.api.call('POST', '/repositories', { name: repository, storage_namespace: storage });
  await measure(build, `import ${objects} objects`, () => importAll(build, repository));
}

async function historyRound(build: Build, round: number): Promise<void> {
  const { api } = build;
  const base = '/repositories/import0';
  const name = `side${round}`;
  const key = (change: number): string => `${keyOf(Math.floor(Math.random() * objects))}m${round}-${change}`;
  await measure(build, 'create branch', () => api.call('POST', `${base}/branches`, { name, source: 'main' }));
  for (let change = 0; change < 3; change += 1)
    await measure(build, 'upload 100 bytes', () => api.upload('import0', name, key(change), content));
  await measure(build, 'commit 3 changes', () =>
    api.call('POST', `${base}/branches/${name}/commits`, { message: 'change' }),
  );
  const diff = (): Promise<unknown> => api.call('GET', `${base}/refs/main/diff/${name}?amount=100`);
  await measure(build, 'diff, first time', diff);
  await measure(build, 'diff, repeated', diff);
  await measure(build, 'merge, one side moved', () =>
    api.call('POST', `${base}/refs/${name}/merge/main`, {}),
  );
}

/** Lets the server compile what it runs, as it will have after its first seconds in use. */
async function warmUp({ api }: Build): Promise<void> {
  const requests = new Requests(api, 'import0', 's3://import/d0000/f0001');
  let made = 0;
  for (const next of [
    () => requests.stat('main', keyOf(made++ % objects)),
    () => requests.stage('warm', `warm/${made++}`),
    () => requests.createBranch(`warm-${made++}`),
  ]) {
    await runLoad({ endpoint: api.endpoint, connections: 64, seconds: 2, next });
  }
}

const builds: Build[] = [];
try {
  for (const dist of [own, ...positionals.map((path) => resolve(path))]) builds.push(await start(dist));
  for (let round = 0; round < 3; round += 1) for (const build of builds) await importRound(build, round);
  for (const build of builds) {
    await build.api.call('POST', '/repositories/import0/branches', { name: 'warm', source: 'main' });
    await warmUp(build);
  }
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const build of builds) await historyRound(build, round);
  console.log(`| | Build | Median | Least | ${costs.join(' | ')} |`);
  console.log(`|---|---|---|---|${'---|'.repeat(costs.length)}`);
  for (const [row, { times, spent }] of rows) {
    const means = costs.map(
      (_, index) => spent.reduce((sum, each) => sum + (each[index] ?? 0), 0) / spent.length,
    );
    const shown = [median(times), Math.min(...times), ...means].map((ms) => `${ms.toFixed(2)} ms`);
    console.log(`| ${row} | ${shown.join(' | ')} |`);
  }
} finally {
  for (const build of builds) await build.stop();
}
