// What a garbage collection costs: mark, compare, sweep, memory, and requests made meanwhile.
// node bench/src/gc-bench.ts [objects] [commits] [changes a commit] [garbage objects]
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openBlockStores } from '@svc/block';
import { openEngine } from '@svc/engine';
import { LocalCacheBus, openStore } from '@svc/kv';
import { writeRepository } from './bench-engine.ts';
import { keyOf } from './scenarios/bench.ts';

const [objects = 1_000_000, commits = 100, changes = 1000, garbage = 20_000] = process.argv
  .slice(2)
  .map(Number);
const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-gc-'));
const repository = 'collected';
const actor = { committer: 'bench' };
const dayMs = 86_400_000;

/** Everything is written ten days ago. */
let offset = -10 * dayMs;
const phases = new Map<string, number>();
const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true });
const blockStores = await openBlockStores([{ type: 'local', path: join(folder, 'objects') }]);
const { engine, trees } = await openEngine({
  kv,
  blockStores,
  cacheBus: new LocalCacheBus(),
  signingSecret: 'bench',
  cacheDir: join(folder, 'cache'),
  treeSettings: { cacheSizeBytes: 4 * 1024 ** 3 },
  clock: () => Date.now() + offset,
  settings: {
    gc: {
      enabled: false,
      intervalMs: dayMs,
      graceMs: dayMs,
      quarantineMs: 7 * dayMs,
      metadata: true,
      danglingCommitsMs: 0,
      maxPercent: 100,
      deletesPerSecond: 0,
      listsPerSecond: 0,
      memoryBytes: 268_435_456,
      cpuPercent: 100,
      folder: join(folder, 'gc'),
      cacheSizeBytes: 2_147_483_648,
      reportRetentionMs: 90 * dayMs,
    },
  },
  // The minute between the two looks of a run without a window is not measured.
  steadyTime: { now: () => performance.now(), rest: (ms) => (ms < 5000 ? pause(ms) : Promise.resolve()) },
  collectorObserver: {
    ended: () => undefined,
    phase: (name, seconds) => phases.set(name, (phases.get(name) ?? 0) + seconds),
    deleted: () => undefined,
    failures: () => undefined,
    rescued: () => undefined,
    condemned: () => undefined,
  },
});

let peak = 0;
function anonymousMegabytes(): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}
const sampler = setInterval(() => {
  peak = Math.max(peak, anonymousMegabytes());
}, 20);

/** The slow ones of stats and of uploads, each made one after the other until `work` has ended. */
async function requestsDuring(work: () => Promise<unknown>): Promise<string> {
  const state = { busy: true };
  const repeated = async (request: (index: number) => Promise<unknown>): Promise<number> => {
    const latencies: number[] = [];
    while (state.busy) {
      const begun = performance.now();
      await request(latencies.length);
      latencies.push(performance.now() - begun);
      await pause(2);
    }
    latencies.sort((left, right) => left - right);
    return latencies[Math.floor(latencies.length * 0.99)] ?? 0;
  };
  const stats = repeated((index) =>
    engine.objects.stat({ repository, ref: 'main', path: keyOf(index % objects) }),
  );
  const puts = repeated(() =>
    engine.objects.upload({ repository, branch: 'main', path: 'put', body: Buffer.from('put') }),
  );
  await work();
  state.busy = false;
  return `stat p99 ${(await stats).toFixed(2)} ms, PUT p99 ${(await puts).toFixed(2)} ms`;
}

async function collect(hard: boolean): Promise<void> {
  const run = await engine.gcRuns.start({ repository, user: 'bench', dryRun: !hard, hard, maxPercent: 100 });
  const job = engine.jobs.find(({ name }) => name === 'collect-garbage');
  await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
  const { state, error, report } = await engine.gcRuns.get({ repository, run });
  if (state !== 'completed' || report === undefined) throw new Error(error);
  const deleted = report.classes.reduce((sum, row) => sum + row.deleted.objects, 0);
  const rate = Math.round(deleted / (phases.get('sweeping') ?? 1));
  if (hard) process.stdout.write(`  deleted ${deleted} objects, ${rate} a second\n`);
}

async function alone(work: () => Promise<unknown>): Promise<string> {
  await work();
  return 'no requests';
}

async function measured(name: string, work: () => Promise<void>, beside = requestsDuring): Promise<void> {
  phases.clear();
  peak = 0;
  const before = anonymousMegabytes();
  const begun = performance.now();
  const usage = process.cpuUsage();
  const requests = await beside(work);
  const { user, system } = process.cpuUsage(usage);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const parts = [...phases].map(([phase, took]) => `${phase} ${took.toFixed(1)} s`).join(', ');
  const memory = `${Math.max(0, Math.round(peak - before))} MB more than before`;
  const cpu = `${((user + system) / 1e6).toFixed(1)} s of processors`;
  process.stdout.write(`${name}: ${seconds} s (${parts}), ${cpu}, ${memory}, ${requests}\n`);
}

async function concurrently(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: 128 }, worker));
}

await writeRepository({ engine, trees, close: () => Promise.resolve() }, { repository, objects });
const { storageNamespace } = await engine.repositories.get(repository);
const addressOf = (name: string): string => {
  const identifier = `data/gk3f7ctl8q3s73frlr8g/${name}0`;
  return blockStores.get('').absoluteUri({ storageNamespace, identifier, identifierType: 'relative' });
};
for (let commit = 1; commit < commits; commit += 1) {
  await concurrently(changes, (index) =>
    engine.objects.stage({
      repository,
      branch: 'main',
      path: keyOf(Math.floor(Math.random() * objects)),
      physicalAddress: addressOf(String(commit * 1_000_000 + index).padStart(19, '1')),
      checksum: `${commit}-${index}`,
      size: 1,
      mayReadRepository: () => true,
    }),
  );
  await engine.commits.create({ repository, branch: 'main', message: `${commit}`, actor });
}
await concurrently(garbage, () =>
  engine.objects.upload({ repository, branch: 'main', path: 'garbage', body: Buffer.from('garbage') }),
);
const data = join(folder, 'objects', repository, 'data');
const old = new Date(Date.now() + offset);
for (const partition of readdirSync(data)) {
  for (const name of readdirSync(join(data, partition))) utimesSync(join(data, partition, name), old, old);
}
offset = 0;
const idle = await requestsDuring(() => pause(3000));
process.stdout.write(`${objects} objects, ${commits} commits of ${changes} changes, idle: ${idle}\n`);
await measured('dry run', () => collect(false));
await measured('dry run again', () => collect(false));
await measured(`hard run, ${garbage} to delete, marked twice`, () => collect(true), alone);
clearInterval(sampler);
await engine.close();
await blockStores.close();
await kv.close();
rmSync(folder, { recursive: true, force: true });
