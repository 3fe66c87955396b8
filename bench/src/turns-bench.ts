// Two or more builds in turns, each on a PostgreSQL and an S3 server of its own on this machine: what a request costs the
// server, the database and the object store in processor time, which a busy machine changes less than rates.
//   node bench/src/turns-bench.ts [--seconds 2] [--rounds 5] [dist of another build …]; needs `npm run build`
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Api } from './driver/api.ts';
import { runLoad, type NextRequest } from './driver/http-load.ts';
import { presignTarget } from './driver/presign.ts';
import { processorMsOf } from './driver/processor-time.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer } from './driver/start-server.ts';
import { Requests } from './scenarios/requests.ts';

const { values, positionals } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
  },
  allowPositionals: true,
});
const own = resolve(import.meta.dirname, '..', '..', 'dist');
const connections = 64;
const objects = 400;
const content = 'x'.repeat(4096);

interface Build {
  readonly name: string;
  readonly endpoint: URL;
  readonly loads: Readonly<Record<string, NextRequest>>;
  serverMs(): number;
  stop(): Promise<void>;
}

async function start(dist: string): Promise<Build> {
  const folder = mkdtempSync(join(tmpdir(), 'turns-bench-'));
  const stores = await startRemoteStores();
  const server = await startServer(folder, folder, stores.settings, dist);
  await setUp(server);
  const { endpoint, credentials, memory } = server;
  const api = new Api(endpoint, credentials);
  await api.call('POST', '/repositories', { name: 'bench', storage_namespace: 's3://bench/turns' });
  const key = (index: number): string => `small/${(index * 7919) % objects}`;
  for (let at = 0; at < objects; at += 50) {
    const some = Array.from({ length: 50 }, (_, index) => key(at + index));
    await Promise.all(some.map((each) => api.upload('bench', 'main', each, Buffer.from(content))));
  }
  const requests = new Requests(api, 'bench', 's3://elsewhere/object');
  const signed = (method: 'GET' | 'PUT', path: string): string => {
    const target = presignTarget(endpoint, credentials, method, `/bench/main/${path}`);
    const body = method === 'GET' ? '' : content;
    return `${method} ${target} HTTP/1.1\r\nhost: ${endpoint.host}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const urls = Array.from({ length: objects }, (_, index) => signed('GET', key(index)));
  const puts = Array.from({ length: 2000 }, (_, index) => signed('PUT', `s3/${index}`));
  const upload = (path: string): string =>
    `POST /api/v1/repositories/bench/branches/main/objects?path=${path} HTTP/1.1\r\nhost: ${endpoint.host}\r\n` +
    `authorization: ${api.authorization}\r\ncontent-type: application/octet-stream\r\n` +
    `content-length: ${content.length}\r\n\r\n${content}`;
  let made = 0;
  return {
    name: dist,
    endpoint,
    loads: {
      stat: (sequence) => requests.stat('main', key(sequence)),
      'read 4 KiB': (sequence) => requests.get('main', key(sequence)),
      'read 4 KiB, S3': (sequence) => urls[sequence % urls.length] ?? '',
      'write 4 KiB': () => upload(`put%2F${made++}`),
      'write 4 KiB, S3': (sequence) => puts[sequence % puts.length] ?? '',
      'stage a change': () => requests.stage('main', `staged/${made++}`),
      'create a branch': () => requests.createBranch(`b-${made++}`),
    },
    serverMs: () => memory.processorMs(),
    stop: async () => {
      await server.stop();
      await stores.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const builds: Build[] = [];
const rows = new Map<string, number[][]>();
try {
  for (const dist of [own, ...positionals.map((path) => resolve(path))]) builds.push(await start(dist));
  const names = Object.keys(builds[0]?.loads ?? {});
  for (let round = 0; round <= Number(values.rounds); round += 1)
    for (const name of names) for (const build of builds) await turn(build, name, round === 0);
  console.log('| | Build | Requests/s | Server | Database | Object store | Errors |');
  console.log('|---|---|---|---|---|---|---|');
  for (const [row, turns] of rows) {
    const medians = turns[0]?.map((_, column) => {
      const sorted = turns.map((each) => each[column] ?? Number.NaN).toSorted((a, b) => a - b);
      return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
    });
    const [rate, server, database, store, errors] = medians ?? [];
    console.log(`| ${row} | ${rate} | ${server} µs | ${database} µs | ${store} µs | ${errors} |`);
  }
} finally {
  for (const build of builds) await build.stop();
}

/** The first turns only warm up. */
async function turn(build: Build, name: string, isFirst: boolean): Promise<void> {
  const next = build.loads[name];
  if (next === undefined) throw new Error(`${name} is no load`);
  const times = (): number[] => [build.serverMs(), processorMsOf('postgres'), processorMsOf('versitygw')];
  const before = times();
  const { endpoint } = build;
  const result = await runLoad({ endpoint, connections, seconds: Number(values.seconds), next });
  if (isFirst) return;
  const costs = times().map((ms, index) => ((ms - (before[index] ?? 0)) * 1000) / result.requests);
  const row = `${name} | ${build.name}`;
  rows.set(row, [...(rows.get(row) ?? []), [result.perSecond, ...costs, result.errors]]);
}
