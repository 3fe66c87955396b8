// What a garbage collection costs. Every scenario prepares its data in a folder of its own, and uses it again when it is
// there: `node bench/src/gc-bench.ts prepare <scenario>`, then `node bench/src/gc-bench.ts <scenario>` to measure.
import { existsSync, renameSync, rmSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openBlockStore, type BlockAdapter, type WalkedObject } from '@svc/block';
import { encodeStagedEntry } from '@svc/encoding';
import type { KvRecord } from '@svc/kv';
import { AddressHash } from '../../packages/engine/src/gc/collector/address-hash.ts';
import { Marks } from '../../packages/engine/src/gc/collector/marks.ts';
import {
  actor,
  addressOf,
  anonymousMegabytes,
  concurrently,
  dayMs,
  GcBench,
  repository,
  writeGarbage,
  type GcBenchOptions,
} from './gc-world.ts';
import { GeneratedRecords } from './generated-records.ts';
import { keyOf } from './scenarios/bench.ts';

const root = join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-gc-bench');
const garbage = 100_000;
const old = (): Date => new Date(Date.now() - 10 * dayMs);
const anyOf = (objects: number) => (): number => Math.floor(Math.random() * objects);

interface Scenario {
  readonly prepare?: (folder: string) => Promise<void>;
  readonly measure: (folder: string) => Promise<void>;
}

async function withBench(options: GcBenchOptions, work: (bench: GcBench) => Promise<void>): Promise<void> {
  const bench = await GcBench.open(options);
  try {
    await work(bench);
  } finally {
    await bench.close();
  }
}

/** A run that finds nothing kept of earlier ones. */
const forget = (folder: string): void => rmSync(join(folder, 'gc'), { recursive: true, force: true });

/** A history that is marked, marked again, and marked after one more commit. */
function history(
  objects: number,
  commits: number,
  changes: number,
  branches: number,
  inOnePlace = false,
): Scenario {
  const place = (commit: number) => (inOnePlace ? (change: number) => commit * 7 + change : anyOf(objects));
  return {
    prepare: (folder) =>
      withBench({ folder }, async (bench) => {
        bench.clock.offset = -10 * dayMs;
        await bench.writeRepository(objects);
        const names = Array.from({ length: branches }, (_, index) => `branch-${index}`);
        for (const name of names)
          await bench.engine.branches.create({ repository, name, source: 'main', actor });
        for (let commit = 1; commit < commits; commit += 1) {
          const branch = branches === 0 ? 'main' : (names[commit % branches] ?? 'main');
          await bench.commitChanges(branch, changes, place(commit));
        }
      }),
    measure: async (folder) => {
      forget(folder);
      await withBench({ folder }, async (bench) => {
        await bench.measured('dry run', () => bench.collect());
        await bench.measured('again', () => bench.collect());
        await bench.commitChanges('main', changes, place(0));
        await bench.measured('after one more commit', () => bench.collect());
      });
    },
  };
}

/** A store that has the data of the objects, by name only: so many files would take an hour to make. */
function namesOnly(adapter: BlockAdapter, objects: number): BlockAdapter {
  const modified = new Date(Date.now() - 10 * dayMs);
  const walk: BlockAdapter['walk'] = async function* (uri, options) {
    yield* adapter.walk(uri, options);
    if (!uri.endsWith(`${repository}/data/`)) return;
    for (let start = 0; start < objects; start += 1000) {
      const page: WalkedObject[] = [];
      for (let index = start; index < Math.min(objects, start + 1000); index += 1) {
        const relativeKey = addressOf(index).slice('data/'.length);
        page.push({ uri: uri + relativeKey, relativeKey, etag: '', size: index, lastModified: modified });
      }
      yield page;
    }
  };
  return new Proxy(adapter, {
    get: (target, name) => {
      if (name === 'walk') return walk;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

const tenMillion: Scenario = {
  prepare: (folder) =>
    withBench({ folder }, async (bench) => {
      bench.clock.offset = -10 * dayMs;
      await bench.writeRepository(10_000_000);
      for (let commit = 1; commit < 10; commit += 1)
        await bench.commitChanges('main', 1000, anyOf(10_000_000));
    }),
  measure: async (folder) => {
    forget(folder);
    const adapter = await openBlockStore({ type: 'local', path: join(folder, 'objects') });
    await withBench({ folder, adapter: namesOnly(adapter, 10_000_000) }, async (bench) => {
      await bench.measured('dry run', () => bench.collect());
      await bench.measured('again', () => bench.collect());
    });
  },
};

const staged: Scenario = {
  prepare: (folder) =>
    withBench({ folder }, async (bench) => {
      bench.clock.offset = -10 * dayMs;
      await bench.writeRepository(1000);
      const objects = new GeneratedRecords(1_000_000, addressOf);
      for (let branch = 0; branch < 1000; branch += 1) {
        const name = `branch-${branch}`;
        await bench.engine.branches.create({ repository, name, source: 'main', actor });
        const token = await bench.stagingToken(name);
        const records: KvRecord[] = [];
        while (records.length < 1000 && objects.next()) {
          const { key, identity, data } = objects;
          records.push({ key, value: encodeStagedEntry(key, identity, data) });
        }
        await bench.kv.setMany(token, records);
      }
    }),
  measure: (folder) => withBench({ folder }, (bench) => bench.measured('dry run', () => bench.collect())),
};

async function sweepAll(bench: GcBench): Promise<string> {
  const deleted = await bench.collect({ hard: true });
  return `deleted ${deleted}, ${Math.round(deleted / bench.phaseSeconds('sweeping'))} a second`;
}

const sweepLocal: Scenario = {
  measure: (folder) =>
    withBench({ folder }, async (bench) => {
      bench.clock.offset = -10 * dayMs;
      await bench.writeRepository(1000);
      writeGarbage(folder, garbage, old);
      bench.clock.offset = 0;
      await bench.measured('hard run', () => sweepAll(bench));
    }),
};

/** An S3 server that S3_ENDPOINT, S3_BUCKET and the variables of AWS name; its objects are as old as the clock is ahead. */
const sweepS3: Scenario = {
  measure: async (folder) => {
    const { S3_ENDPOINT: endpoint = '', S3_BUCKET: bucket = '' } = process.env;
    const credentials = {
      accessKeyId: process.env['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: process.env['AWS_SECRET_ACCESS_KEY'] ?? '',
    };
    const adapter = await openBlockStore({ type: 's3', endpoint, credentials, forcePathStyle: true });
    const storageNamespace = `s3://${bucket}/${repository}`;
    const dated: BlockAdapter = new Proxy(adapter, {
      get: (target, name) => {
        if (name === 'properties') {
          const now = new Date();
          return async (...args: Parameters<BlockAdapter['properties']>) => ({
            ...(await target.properties(...args)),
            lastModified: new Date(now.getTime() + 10 * dayMs),
          });
        }
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    await withBench({ folder, adapter: dated }, async (bench) => {
      await bench.writeRepository(1000, storageNamespace);
      await concurrently(20_000, (index) => {
        const identifier = addressOf(index + 1000);
        return adapter.put({ storageNamespace, identifier, identifierType: 'relative' }, Buffer.from('x'));
      });
      bench.clock.offset = 10 * dayMs;
      await bench.measured('hard run', () => sweepAll(bench));
    });
  },
};

/** As many marks as a hundred million objects have. */
const marks: Scenario = {
  measure: async (folder) => {
    const count = 100_000_000;
    const before = anonymousMegabytes();
    let peak = 0;
    const begun = performance.now();
    const all = new Marks(join(folder, 'marks'));
    const hash = new AddressHash();
    const slice = new Uint32Array(200_000);
    const bytes = Buffer.from(addressOf(0));
    const look = (): void => {
      peak = Math.max(peak, anonymousMegabytes());
    };
    for (let start = 0; start < count; start += slice.length / 2) {
      bytes.write(addressOf(start));
      for (let index = 0; index < slice.length / 2; index += 1) {
        // Faster than to write every address anew, and as scattered.
        bytes.writeUInt32LE((start + index) >>> 0, 30);
        hash.read(bytes, 0, bytes.length);
        slice[2 * index] = hash.high;
        slice[2 * index + 1] = hash.low;
      }
      all.addAll(slice, true);
      look();
    }
    process.stdout.write(
      `${all.count} marks written: ${((performance.now() - begun) / 1000).toFixed(1)} s\n`,
    );
    for (let shard = 0; shard < 256; shard += 1) {
      all.load(shard).use(addressOf(shard));
      look();
    }
    all.close();
    process.stdout.write(
      `and loaded: ${((performance.now() - begun) / 1000).toFixed(1)} s, ${Math.round(peak - before)} MB more than before\n`,
    );
    await pause(0);
  },
};

/** Requests of the process beside a run with the default limits, against none. */
const requests: Scenario = {
  prepare: async (folder) => {
    await history(1_000_000, 20, 1000, 0).prepare?.(folder);
  },
  measure: async (folder) => {
    forget(folder);
    await withBench({ folder, cpuPercent: 50, deletesPerSecond: 1000 }, async (bench) => {
      writeGarbage(folder, garbage, old);
      const print = (name: string, told: string): void => void process.stdout.write(`${name}: ${told}\n`);
      print('idle', await requestsDuring(bench, () => pause(10_000)));
      print('mark', await requestsDuring(bench, () => bench.collect()));
      print('sweep', await requestsDuring(bench, () => bench.collect({ hard: true })));
    });
  },
};

async function requestsDuring(bench: GcBench, work: () => Promise<unknown>): Promise<string> {
  const state = { busy: true };
  const repeated = async (name: string, request: (index: number) => Promise<unknown>): Promise<string> => {
    const latencies: number[] = [];
    const begun = performance.now();
    while (state.busy) {
      const from = performance.now();
      await request(latencies.length);
      latencies.push(performance.now() - from);
      await pause(1);
    }
    const seconds = (performance.now() - begun) / 1000;
    latencies.sort((left, right) => left - right);
    const [p50, p99] = [0.5, 0.99].map((part) => latencies[Math.floor(latencies.length * part)] ?? 0);
    return `${name} p50 ${p50?.toFixed(2)} p99 ${p99?.toFixed(2)} ms, ${Math.round(latencies.length / seconds)}/s`;
  };
  const { engine } = bench;
  const { commitId } = await engine.branches.get({ repository, branch: 'main' });
  const all = [
    repeated('stat', (index) =>
      engine.objects.stat({ repository, ref: 'main', path: keyOf(index % 1_000_000) }),
    ),
    repeated('PUT', () =>
      engine.objects.upload({ repository, branch: 'main', path: 'put', body: Buffer.from('put') }),
    ),
    repeated('branch from a branch', async (index) => {
      const name = `b${Date.now()}-${index}`;
      await engine.branches.create({ repository, name, source: 'main', actor });
      await engine.branches.delete({ repository, branch: name, actor });
    }),
    repeated('branch from an id', async (index) => {
      const name = `i${Date.now()}-${index}`;
      await engine.branches.create({ repository, name, source: commitId, actor });
      await engine.branches.delete({ repository, branch: name, actor });
    }),
  ];
  await work();
  state.busy = false;
  return (await Promise.all(all)).join('; ');
}

const scenarios: Readonly<Record<string, Scenario>> = {
  /** 100 000 objects, 250 commits of 100 random changes, 100 branches. */
  branches: history(100_000, 250, 100, 100),
  million: history(1_000_000, 100, 1000, 0),
  /** The same, but every commit changes neighbours. */
  neighbours: history(1_000_000, 100, 1000, 0, true),
  'ten-million': tenMillion,
  staged,
  'sweep-local': sweepLocal,
  'sweep-s3': sweepS3,
  marks,
  requests,
};

const [first = '', second = ''] = process.argv.slice(2);
const name = first === 'prepare' ? second : first;
const scenario = scenarios[name];
if (scenario === undefined) throw new Error(`name one of ${Object.keys(scenarios).join(', ')}`);
const folder = join(root, name);
if (scenario.prepare === undefined) rmSync(folder, { recursive: true, force: true });
else if (!existsSync(folder)) {
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await scenario.prepare(unfinished);
  renameSync(unfinished, folder);
}
mkdirSync(folder, { recursive: true });
if (first !== 'prepare') await scenario.measure(folder);
if (scenario.prepare === undefined) rmSync(folder, { recursive: true, force: true });
