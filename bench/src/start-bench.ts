// What a start costs on local stores, and what `svcctl` costs before it does anything:
//   node bench/src/start-bench.ts [--rounds 7] [dist of another build …]
// Builds take turns. A server starts twice on each folder: the first time it makes its stores and its first user, and
// is given an object, so that the second has something to warm up with. Time is until the first answered request; processor time and memory are those of all processes once they have come to rest.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Api } from './driver/api.ts';
import { startServer, type BenchServer } from './driver/start-server.ts';

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '7' } },
  allowPositionals: true,
});
const own = resolve(import.meta.dirname, '..', '..', 'dist');
const builds = [own, ...positionals.map((path) => resolve(path))];
const costs = ['ms', 'processor ms', 'MB'] as const;
const rows = new Map<string, number[]>();

function note(build: string, row: string, value: number): void {
  const key = `${build}\t${row}`;
  rows.set(key, [...(rows.get(key) ?? []), value]);
}

async function addObject({ endpoint, credentials }: BenchServer): Promise<void> {
  const api = new Api(endpoint, credentials);
  await api.call('POST', '/repositories', { name: 'start', storage_namespace: 'local://start' });
  await api.upload('start', 'main', 'object', Buffer.from('content'));
  await api.call('POST', '/repositories/start/branches/main/commits', { message: 'c' });
}

async function measureServer(
  build: string,
  folder: string,
  what: string,
  then: (server: BenchServer) => Promise<void> = async () => undefined,
): Promise<void> {
  const server = await startServer(folder, folder, {}, build);
  const { startMs, memory } = server;
  for (let last = -1, now = memory.processorMs(); now !== last; now = memory.processorMs()) {
    last = now;
    await delay(500);
  }
  const measured = [startMs, memory.processorMs(), memory.now()];
  await then(server);
  await server.stop();
  for (const [n, cost] of costs.entries()) note(build, `${what}, ${cost}`, measured[n] ?? Number.NaN);
}

function measureCommand(build: string, row: string, args: string[]): void {
  const started = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}`);
  note(build, row, performance.now() - started);
}

async function round(build: string): Promise<void> {
  const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-start-'));
  try {
    await measureServer(build, folder, 'first start', addObject);
    await measureServer(build, folder, 'start');
    measureCommand(build, 'bare node, ms', ['-e', '0']);
    measureCommand(build, 'svcctl --version, ms', [join(build, 'svcctl.js'), '--version']);
    measureCommand(build, 'svcctl --help, ms', [join(build, 'svcctl.js'), '--help']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// The first round of a build fills the cache of compiled code.
for (const build of builds) await round(build);
rows.clear();
for (let n = 0; n < Number(values.rounds); n++) for (const build of builds) await round(build);
for (const [key, measured] of rows) {
  const [build = '', row] = key.split('\t');
  const sorted = measured.toSorted((a, b) => a - b);
  const [least, median, most] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) =>
    (sorted[at] ?? Number.NaN).toFixed(0),
  );
  console.log(`${build}  ${row}: ${median} (${least}–${most})`);
}
