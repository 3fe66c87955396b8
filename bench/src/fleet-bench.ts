// Throughput over several servers on one PostgreSQL and one S3 server, all on this machine, and what a request costs
// each of them in processor time. With as many cores as servers the rates tell how it scales; with fewer, the costs do.
// Usage: node bench/src/fleet-bench.ts [seconds] [servers,servers,…]; needs `npm run build`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from './driver/api.ts';
import { runLoad, type NextRequest } from './driver/http-load.ts';
import { processorMsOf } from './driver/processor-time.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer, type BenchServer } from './driver/start-server.ts';
import { Requests } from './scenarios/requests.ts';

const seconds = Number(process.argv[2] ?? 5);
const sizes = (process.argv[3] ?? '1,2,4').split(',').map(Number);
/** Of all servers together. */
const connections = 32;
const objects = 2000;

const folder = mkdtempSync(join(tmpdir(), 'fleet-bench-'));
const stores = await startRemoteStores();
const start = (name: string): Promise<BenchServer> =>
  startServer(join(folder, name), folder, { ...stores.settings, server: { workers: 1 } });

const servers: BenchServer[] = [await start('0')];
const [first] = servers;
if (first === undefined) throw new Error('no server');
await setUp(first);
const api = new Api(first.endpoint, first.credentials);
await api.call('POST', '/repositories', { name: 'bench', storage_namespace: 's3://bench/fleet' });
const key = (index: number): string => `data/${String(index % objects).padStart(6, '0')}`;
const body = new Uint8Array(4096);
for (let at = 0; at < objects; at += 50)
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => api.upload('bench', 'main', key(at + index), body)),
  );
await api.call('POST', '/repositories/bench/branches/main/commits', { message: 'all' });
const { physical_address: address } = await api.call<{ physical_address: string }>(
  'GET',
  `/repositories/bench/refs/main/objects/stat?path=${key(0)}`,
);

type Load = (requests: Requests, round: string) => NextRequest;
const loads: Readonly<Record<string, Load>> = {
  stat: (requests) => (sequence) => requests.stat('main', key(sequence * 7919)),
  'read 4 KiB': (requests) => (sequence) => requests.get('main', key(sequence * 7919)),
  'stage a change': (requests, round) => (sequence) => requests.stage('main', `staged/${round}/${sequence}`),
  'create a branch': (requests, round) => (sequence) => requests.createBranch(`b-${round}-${sequence}`),
};

interface Times {
  readonly server: number;
  readonly database: number;
  readonly objectStore: number;
}

const times = (): Times => ({
  server: servers.reduce((sum, { memory }) => sum + memory.processorMs(), 0),
  database: processorMsOf('postgres'),
  objectStore: processorMsOf('versitygw'),
});

console.log('| | servers | requests/s | p50 / p99 ms | server | database | object store | errors |');
console.log('|---|---|---|---|---|---|---|---|');
try {
  for (const size of sizes) {
    while (servers.length < size) servers.push(await start(String(servers.length)));
    const used = servers.slice(0, size);
    for (const [name, load] of Object.entries(loads)) {
      const run = (label: string, duration: number) =>
        Promise.all(
          used.map(({ endpoint, credentials }, index) => {
            const requests = new Requests(new Api(endpoint, credentials), 'bench', address);
            return runLoad({
              endpoint,
              connections: Math.ceil(connections / size),
              seconds: duration,
              next: load(requests, `${label}-${size}-${index}`),
            });
          }),
        );
      await run('warm', 1);
      const before = times();
      const results = await run('run', seconds);
      const after = times();
      const count = results.reduce((sum, { requests }) => sum + requests, 0);
      const rate = results.reduce((sum, { perSecond }) => sum + perSecond, 0);
      const cost = (part: keyof Times): string =>
        `${Math.round(((after[part] - before[part]) * 1000) / count)} µs`;
      const p50 = Math.max(...results.map((result) => result.p50)).toFixed(1);
      const p99 = Math.max(...results.map((result) => result.p99)).toFixed(1);
      const errors = results.reduce((sum, result) => sum + result.errors, 0);
      console.log(
        `| ${name} | ${size} | ${Math.round(rate)} | ${p50} / ${p99} | ${cost('server')} | ${cost('database')} | ${cost('objectStore')} | ${errors} |`,
      );
    }
  }
} finally {
  for (const server of servers) await server.stop();
  await stores.stop();
  rmSync(folder, { recursive: true, force: true });
}
