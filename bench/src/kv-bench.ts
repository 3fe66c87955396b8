// Key-value store benchmark: `node bench/src/kv-bench.ts [local|postgres] [--seconds 3] [--rows 1000000] [--path folder]`.
// Prints a table and, last, one line of JSON. For postgres, SVC_BENCH_POSTGRES names a server; without it one is started.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openStore, type KvStoreConfig } from '@svc/kv';
import { startPostgres } from '@svc/testing';
import { rowKey, scanned, value, type LoadAnswer, type LoadRequest } from './kv-load.ts';

interface Row {
  readonly name: string;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicrosecondsEach: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '1000000' },
    path: { type: 'string' },
  },
});
const driver = positionals[0] ?? 'local';
const seconds = Number(values.seconds);
const rows = Number(values.rows);
const folder = mkdtempSync(join(values.path ?? tmpdir(), 'svc-kv-bench-'));

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function summarize(name: string, answers: readonly LoadAnswer[]): Row {
  const latencies = answers.flatMap((answer) => answer.latenciesMs).toSorted((a, b) => a - b);
  const operations = answers.reduce((sum, answer) => sum + answer.operations, 0);
  const cpuMs = answers.reduce((sum, answer) => sum + answer.cpuMs, 0);
  return {
    name,
    perSecond: answers.reduce((sum, answer) => sum + (answer.operations / answer.elapsedMs) * 1000, 0),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    cpuMicrosecondsEach: (cpuMs * 1000) / operations,
  };
}

/** What the disk gives to anyone: one page written in place and synced, one after the other. */
function rawSync(): Row {
  const file = openSync(join(folder, 'raw'), 'w');
  const page = Buffer.alloc(8192, 1);
  for (let index = 0; index < 128; index++) writeSync(file, page, 0, page.length, index * page.length);
  fdatasyncSync(file);
  const latenciesMs: number[] = [];
  const started = performance.now();
  const cpu = process.cpuUsage();
  while (performance.now() < started + seconds * 1000) {
    const before = performance.now();
    writeSync(file, page, 0, page.length, (latenciesMs.length % 128) * page.length);
    fdatasyncSync(file);
    latenciesMs.push(performance.now() - before);
  }
  closeSync(file);
  const { user, system } = process.cpuUsage(cpu);
  const elapsedMs = performance.now() - started;
  return summarize('raw 8 KiB write + fdatasync', [
    { operations: latenciesMs.length, elapsedMs, latenciesMs, cpuMs: (user + system) / 1000 },
  ]);
}

async function fillRows(config: KvStoreConfig): Promise<number> {
  const store = await openStore(config);
  const started = performance.now();
  for (let from = 0; from < rows; from += 5000) {
    await Promise.all(
      Array.from({ length: Math.min(5000, rows - from) }, (_, index) =>
        store.set(scanned, rowKey(from + index), value),
      ),
    );
  }
  const perSecond = (rows / (performance.now() - started)) * 1000;
  await store.close();
  return perSecond;
}

async function startLoader(config: KvStoreConfig): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'kv-load.ts'), [JSON.stringify(config)]);
  await once(child, 'message');
  return child;
}

async function measure(
  loaders: readonly ChildProcess[],
  name: string,
  request: Omit<LoadRequest, 'name'>,
): Promise<Row> {
  const answers = await Promise.all(
    loaders.map(async (loader, index) => {
      const answer = once(loader, 'message') as Promise<[LoadAnswer]>;
      loader.send({ ...request, name: `${request.load}${request.writers}-${loaders.length}-${index}` });
      return (await answer)[0];
    }),
  );
  return summarize(name, answers);
}

async function configure(): Promise<{ config: KvStoreConfig; stop: () => Promise<void> }> {
  if (driver === 'local') {
    return {
      config: { type: 'local', path: join(folder, 'kv'), syncWrites: true },
      stop: () => Promise.resolve(),
    };
  }
  const named = process.env['SVC_BENCH_POSTGRES'];
  const server = named === undefined ? await startPostgres() : undefined;
  return {
    config: {
      type: 'postgres',
      connectionString: named ?? server?.address['connectionString'] ?? '',
      maxOpenConnections: 25,
      maxIdleConnections: 25,
      connectionMaxLifetimeMs: 300_000,
      scanPageSize: 1000,
    },
    stop: async () => server?.dispose(),
  };
}

function print(row: Row): Row {
  const cells = [
    row.name.padEnd(44),
    Math.round(row.perSecond).toLocaleString('en').padStart(11),
    row.p50Ms.toFixed(3).padStart(10),
    row.p99Ms.toFixed(3).padStart(10),
    row.cpuMicrosecondsEach.toFixed(1).padStart(9),
  ];
  process.stdout.write(`${cells.join(' ')}\n`);
  return row;
}

const { config, stop } = await configure();
const results: Row[] = [];
process.stdout.write(
  `${'load'.padEnd(44)} ${'per second'.padStart(11)} ${'p50 ms'.padStart(10)} ${'p99 ms'.padStart(10)} ${'cpu us'.padStart(9)}\n`,
);
try {
  results.push(print(rawSync()));
  const filled = await fillRows(config);
  process.stdout.write(
    `${`filling ${rows} rows`.padEnd(44)} ${Math.round(filled).toLocaleString('en').padStart(11)}\n`,
  );
  for (const processes of [1, 2]) {
    const loaders = await Promise.all(Array.from({ length: processes }, () => startLoader(config)));
    const run = async (load: LoadRequest['load'], writers: number, label: string): Promise<void> => {
      const name = `${processes} process${processes > 1 ? 'es' : ''}: ${label}`;
      results.push(print(await measure(loaders, name, { load, writers, seconds, rows })));
    };
    for (const writers of [1, 8, 64])
      await run('put', writers / (writers > 1 ? processes : 1), `durable puts, ${writers} writers`);
    for (const writers of [1, 64])
      await run('cas', writers / (writers > 1 ? processes : 1), `get + compare-and-set, ${writers} writers`);
    await run('get', driver === 'local' ? 1 : 25, 'point reads (batches of 100)');
    await run('scan', 1, 'scanned rows');
    const ended = loaders.map((loader) => once(loader, 'exit'));
    for (const loader of loaders) loader.disconnect();
    await Promise.all(ended);
  }
  results.push(print(rawSync()));
} finally {
  await stop();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${JSON.stringify({ driver, rows, seconds, results })}\n`);
