// Everything at once for an hour: reads, writes, deletes, commits, merges and garbage collections.
//   node bench/src/hour-bench.ts [--minutes 60] [--connections 200] [--stores local|postgres] [--chart-dir docs/performance]
// Needs `npm run build`. Garbage is old only on local stores, where files can be dated back: it falls due all through the run.
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Api, median } from './driver/api.ts';
import { runLoad, runMix, type LoadKind } from './driver/http-load.ts';
import { Latencies } from './driver/latencies.ts';
import { MachineProbe } from './driver/machine-probe.ts';
import { writeHourChart, type HourSlice } from './driver/performance-charts.ts';
import { presignTarget } from './driver/presign.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer, type BenchServer } from './driver/start-server.ts';
import { dayMs, GcBench, repository, writeGarbage } from './gc-world.ts';
import { keyOf } from './scenarios/bench.ts';
import { Requests } from './scenarios/requests.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    connections: { type: 'string', default: '200' },
    stores: { type: 'string', default: 'local' },
    'chart-dir': { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const connections = Number(values.connections);
const sliceSeconds = Math.min(30, minutes * 6);
const objects = 100_000;
const smallObjects = 2000;
const cycles = 8;
/** Between the beginnings of two cycles of one worker: a commit writes a range anew, and the disk must hold the hour. */
const cycleMs = 8000;
const collectionMs = 60_000;
const garbagePerMinute = 3000;
const content = 'x'.repeat(4096);
const any = (count: number): number => Math.floor(Math.random() * count);

/** A repository that is older than every window of the collector, with files that fall due one after the other. */
async function prepareLocal(folder: string): Promise<void> {
  const bench = await GcBench.open({ folder });
  bench.clock.offset = -10 * dayMs;
  await bench.writeRepository(objects);
  await bench.close();
  // What is older than the grace period and an hour is due.
  const firstDue = Date.now() - dayMs - 3_600_000;
  const perMs = garbagePerMinute / 60_000;
  writeGarbage(folder, garbagePerMinute * minutes, (index) => new Date(firstDue + index / perMs));
}

async function prepareRemote(api: Api): Promise<void> {
  await api.call('POST', '/repositories', {
    name: repository,
    storage_namespace: `s3://bench/${repository}`,
  });
  const requests = new Requests(api, repository, 's3://elsewhere/object');
  const { errors } = await runLoad({
    endpoint: api.endpoint,
    connections: 64,
    seconds: 3600,
    requests: objects,
    next: (sequence) => requests.stage('main', keyOf(sequence)),
  });
  if (errors > 0) throw new Error(`${errors} objects could not be staged`);
  await api.call('POST', `${target}/branches/main/commits`, { message: 'tree' });
}

const target = `/repositories/${repository}`;
const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-hour-'));
const remote = values.stores === 'postgres' ? await startRemoteStores() : undefined;
const gc = { quarantine: '0s', max_percent: 100 };
let server: BenchServer;
if (remote === undefined) {
  await prepareLocal(folder);
  server = await startServer(folder, folder, {
    gc,
    database: { type: 'local', local: { path: join(folder, 'kv') } },
    blockstore: {
      type: 'local',
      signing: { secret_key: 'signing-secret-of-the-benchmark' },
      local: { path: join(folder, 'objects') },
    },
  });
} else {
  server = await startServer(folder, folder, { gc, ...remote.settings });
  await setUp(server);
}
const { endpoint, credentials, memory } = server;
const api = new Api(endpoint, credentials);
if (remote !== undefined) await prepareRemote(api);
for (let index = 0; index < smallObjects; index += 50)
  await Promise.all(
    Array.from({ length: 50 }, (_, more) =>
      api.upload(repository, 'main', `small/${index + more}`, Buffer.from(content)),
    ),
  );
await api.call('POST', `${target}/branches/main/commits`, { message: 'small objects' });
await api.call('POST', `${target}/branches`, { name: 'daily', source: 'main' });

const requests = new Requests(api, repository, 'local://elsewhere');
const head = ` HTTP/1.1\r\nhost: ${endpoint.host}\r\nauthorization: ${api.authorization}\r\n`;
const body = `content-type: application/octet-stream\r\ncontent-length: ${content.length}\r\n\r\n${content}`;
const daily = `/api/v1${target}/branches/daily/objects?path=w%2F`;

/** The URLs of S3 are signed anew for every slice: they expire after an hour. */
function kindsOfLoad(): (LoadKind & { readonly kind: string })[] {
  const signed = (method: string, key: string): string =>
    `${method} ${presignTarget(endpoint, credentials, method, `/${repository}/${key}`)} HTTP/1.1\r\nhost: ${endpoint.host}\r\n`;
  const gets = Array.from({ length: 200 }, (_, index) => `${signed('GET', `main/small/${index}`)}\r\n`);
  const puts = Array.from({ length: 200 }, (_, index) => `${signed('PUT', `daily/w/${index}`)}${body}`);
  return [
    { kind: 'stat', share: 52, next: () => requests.stat('main', keyOf(any(objects))) },
    { kind: 'list 100', share: 12, next: () => requests.list('daily', keyOf(any(objects)), 100) },
    { kind: 'get', share: 18, next: () => requests.get('main', `small/${any(smallObjects)}`) },
    { kind: 'S3 get', share: 14, next: () => gets[any(gets.length)] ?? '' },
    { kind: 'put', share: 2, next: () => `POST ${daily}${any(20_000)}${head}${body}` },
    { kind: 'S3 put', share: 1, next: () => puts[any(puts.length)] ?? '' },
    { kind: 'delete', share: 1, next: () => `DELETE ${daily}${any(20_000)}${head}\r\n` },
  ];
}

const ended = new AbortController();
let failures = 0;
const commits = { commit: new Latencies(), merge: new Latencies() };

async function timedCall(latencies: Latencies, path: string, what: object): Promise<void> {
  const began = performance.now();
  await api.call('POST', path, what);
  latencies.record(performance.now() - began);
}

async function every(ms: number, what: () => Promise<void>): Promise<void> {
  while (!ended.signal.aborted) {
    const next = performance.now() + ms;
    try {
      await what();
    } catch (error) {
      failures += 1;
      console.error(String(error), error instanceof Error ? (error.cause ?? '') : '');
    }
    await pause(Math.max(0, next - performance.now()), undefined, { signal: ended.signal }).catch(
      () => undefined,
    );
  }
}

/** A branch is made, filled, committed, merged and deleted. */
async function cycle(worker: number): Promise<void> {
  const branch = `cycle-${worker}-${Date.now().toString(36)}`;
  await api.call('POST', `${target}/branches`, { name: branch, source: 'main' });
  for (let count = 0; count < 5; count += 1)
    await api.upload(repository, branch, `cycle/${worker}/${any(50)}`, Buffer.from(content + any(1e9)));
  await timedCall(commits.commit, `${target}/branches/${branch}/commits`, { message: branch });
  await timedCall(commits.merge, `${target}/refs/${branch}/merge/main`, {});
  await api.call('DELETE', `${target}/branches/${branch}`);
}

const collected = { runs: 0, deleted: 0 };

interface Run {
  readonly state: string;
  readonly error?: { readonly message: string };
  readonly report?: { readonly classes: readonly { readonly deleted: { readonly objects: number } }[] };
}

async function collect(): Promise<void> {
  const { id } = await api.call<{ id: string }>('POST', `${target}/gc/runs`, {});
  for (;;) {
    const run = await api.call<Run>('GET', `${target}/gc/runs/${id}`);
    if (run.state === 'completed') {
      collected.runs += 1;
      for (const { deleted } of run.report?.classes ?? []) collected.deleted += deleted.objects;
      return;
    }
    if (run.state !== 'queued' && run.state !== 'running') throw new Error(run.error?.message ?? run.state);
    if (ended.signal.aborted) return;
    await pause(500);
  }
}

const slices: HourSlice[] = [];
const probe = new MachineProbe();
let errors = 0;
const background = [
  ...Array.from({ length: cycles }, (_, worker) => every(cycleMs, () => cycle(worker))),
  every(5000, () =>
    timedCall(commits.commit, `${target}/branches/daily/commits`, { message: 'daily', allow_empty: true }),
  ),
  every(collectionMs, collect),
];
const totals = new Map<string, number>();
const started = performance.now();
try {
  while (performance.now() - started < minutes * 60_000) {
    const kinds = kindsOfLoad();
    const used = memory.processorMs();
    const results = await runMix(
      { endpoint, connections: connections - cycles, seconds: sliceSeconds },
      kinds,
    );
    const nsPerRead = probe.nsPerRead();
    const usedMs = memory.processorMs() - used;
    const slice = {
      minute: (performance.now() - started) / 60_000,
      perSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0),
      costUs: (usedMs * 1000) / results.reduce((sum, { requests }) => sum + requests, 0),
      nsPerRead,
      p99: new Map(results.map(({ p99 }, index) => [kinds[index]?.kind ?? '', p99])),
      megabytes: memory.now(),
    };
    slices.push(slice);
    for (const [index, result] of results.entries()) {
      errors += result.errors;
      const { kind = '' } = kinds[index] ?? {};
      totals.set(kind, (totals.get(kind) ?? 0) + result.requests);
    }
    const { bavail, bsize } = statfsSync(folder);
    console.log(
      `${slice.minute.toFixed(1)} min: ${Math.round(slice.perSecond)}/s, p99 ` +
        [...slice.p99].map(([kind, ms]) => `${kind} ${ms.toFixed(1)}`).join(', ') +
        `, ${Math.round(slice.megabytes)} MB, ${(usedMs / sliceSeconds / 1000).toFixed(2)} cores, ` +
        `${slice.costUs.toFixed(0)} µs a request, ${nsPerRead.toFixed(0)} ns a read, ${collected.runs} collections, ${collected.deleted} deleted, ${errors + failures} errors, ${Math.round((bavail * bsize) / 1e9)} GB free`,
    );
  }
} finally {
  ended.abort();
  await Promise.all(background);
  await probe.close();
  await server.stop();
  await remote?.stop();
  rmSync(folder, { recursive: true, force: true });
}

console.log(
  '\n| Minutes | Requests/s | p99 stat | p99 get | p99 put | Memory | Processor time of a request | of a read from memory |\n|---|---|---|---|---|---|---|---|',
);
const parts = Math.min(6, slices.length);
for (let part = 0; part < parts; part += 1) {
  const some = slices.slice((slices.length * part) / parts, (slices.length * (part + 1)) / parts);
  const of = (value: (slice: HourSlice) => number): string =>
    String(Number(median(some.map(value)).toPrecision(3)));
  const p99 = (kind: string): string => `${of((slice) => slice.p99.get(kind) ?? Number.NaN)} ms`;
  console.log(
    `| to ${(some.at(-1)?.minute ?? 0).toFixed(0)} | ${of((slice) => slice.perSecond)} | ${p99('stat')} | ${p99('get')} | ${p99('put')} | ${of((slice) => slice.megabytes)} MB | ${of((slice) => slice.costUs)} µs | ${of((slice) => slice.nsPerRead)} ns |`,
  );
}
console.log(`\n${[...totals].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
for (const [name, latencies] of Object.entries(commits)) {
  const [p50, p99] = [0.5, 0.99].map((share) => latencies.percentile(share).toFixed(1));
  console.log(`${name}: ${latencies.count}, p50 ${p50} ms, p99 ${p99} ms`);
}
console.log(
  `${collected.runs} collections deleted ${collected.deleted} objects; ${errors + failures} errors`,
);
if (values['chart-dir'] !== undefined) writeHourChart(values['chart-dir'], slices);
