import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BlockStores, openBlockStore, type BlockAdapter } from '@svc/block';
import { branchMessage } from '@svc/encoding';
import { openEngine, type CommittedTrees, type Engine } from '@svc/engine';
import { LocalCacheBus, openStore, type KvStore } from '@svc/kv';
import { GeneratedRecords } from './generated-records.ts';
import { keyOf } from './scenarios/bench.ts';

export const dayMs = 86_400_000;
export const repository = 'collected';
export const actor = { committer: 'bench' };
/** As many as a partition of a server holds. */
const namesPerPartition = 50_000;

function partitionOf(index: number): string {
  return `gk3f7ctl8q3s7${String(Math.floor(index / namesPerPartition)).padStart(6, '0')}0`;
}

/** The data of an object that was written long ago; there need not be any. */
export function addressOf(index: number): string {
  return `data/${partitionOf(index)}/${String(index).padStart(19, '0')}0`;
}

/** Files that nothing refers to, each as old as `modified` says. */
export function writeGarbage(folder: string, count: number, modified: (index: number) => Date): void {
  const objects = join(folder, 'objects', repository);
  for (let index = 0; index < count; index += 1) {
    const at = 2_000_000_000 + index;
    if (index % namesPerPartition === 0)
      mkdirSync(join(objects, 'data', partitionOf(at)), { recursive: true });
    const file = join(objects, addressOf(at));
    writeFileSync(file, 'x');
    const date = modified(index);
    utimesSync(file, date, date);
  }
}

export interface GcBenchOptions {
  readonly folder: string;
  readonly adapter?: BlockAdapter | undefined;
  readonly cpuPercent?: number;
  readonly deletesPerSecond?: number;
}

/** An engine whose clock can be set, and what a collection of it costs. */
export class GcBench {
  readonly engine: Engine;
  readonly trees: CommittedTrees;
  readonly kv: KvStore;
  readonly adapter: BlockAdapter;
  readonly clock: { offset: number };
  readonly #phases: Map<string, number>;
  readonly #sampler: NodeJS.Timeout;
  #peak = 0;

  private constructor(
    parts: Pick<GcBench, 'engine' | 'trees' | 'kv' | 'adapter' | 'clock'>,
    phases: Map<string, number>,
  ) {
    this.engine = parts.engine;
    this.trees = parts.trees;
    this.kv = parts.kv;
    this.adapter = parts.adapter;
    this.clock = parts.clock;
    this.#phases = phases;
    this.#sampler = setInterval(() => {
      this.#peak = Math.max(this.#peak, anonymousMegabytes());
    }, 20);
  }

  static async open(options: GcBenchOptions): Promise<GcBench> {
    const { folder, cpuPercent = 100, deletesPerSecond = 0 } = options;
    const clock = { offset: 0 };
    const phases = new Map<string, number>();
    const kv = await openStore({ type: 'local', path: join(folder, 'kv'), syncWrites: true });
    const adapter =
      options.adapter ?? (await openBlockStore({ type: 'local', path: join(folder, 'objects') }));
    const { engine, trees } = await openEngine({
      kv,
      blockStores: new BlockStores([adapter]),
      cacheBus: new LocalCacheBus(),
      signingSecret: 'bench',
      cacheDir: join(folder, 'cache'),
      treeSettings: { cacheSizeBytes: 4 * 1024 ** 3 },
      clock: () => Date.now() + clock.offset,
      settings: {
        gc: {
          enabled: false,
          intervalMs: dayMs,
          graceMs: dayMs,
          quarantineMs: 7 * dayMs,
          metadata: true,
          danglingCommitsMs: 0,
          maxPercent: 100,
          deletesPerSecond,
          listsPerSecond: 0,
          memoryBytes: 268_435_456,
          cpuPercent,
          folder: join(folder, 'gc'),
          cacheSizeBytes: 2_147_483_648,
          reportRetentionMs: 90 * dayMs,
        },
      },
      // The minute between the two looks of a run without a window is not measured.
      steadyTime: {
        now: () => performance.now(),
        rest: (ms) => (ms < 5000 ? pause(ms) : Promise.resolve()),
      },
      collectorObserver: {
        ended: () => undefined,
        phase: (name, seconds) => phases.set(name, (phases.get(name) ?? 0) + seconds),
        deleted: () => undefined,
        failures: () => undefined,
        rescued: () => undefined,
        condemned: () => undefined,
      },
    });
    return new GcBench({ engine, trees, kv, adapter, clock }, phases);
  }

  /** A repository whose main branch holds that many objects, written as ranges: no file is made for any. */
  async writeRepository(objects: number, storageNamespace = `local://${repository}`): Promise<void> {
    await this.engine.repositories.create({ name: repository, storageNamespace, actor });
    const { storageId, metadataPrefix } = await this.engine.repositories.get(repository);
    const context = { storageId, storageNamespace, metadataPrefix };
    const { metaRangeId } = await this.trees.write(context, new GeneratedRecords(objects, addressOf));
    const tree = { repository, branch: 'main', message: 'tree', sourceMetaRange: metaRangeId, actor };
    await this.engine.commits.create({ ...tree, mayUseEveryAddress: () => Promise.resolve(true) });
  }

  /** A commit of changed objects; `place` says which one a change hits. */
  async commitChanges(branch: string, changes: number, place: (change: number) => number): Promise<void> {
    const { storageNamespace } = await this.engine.repositories.get(repository);
    await concurrently(changes, (change) => {
      const identifier = addressOf(Math.floor(Math.random() * 1e9) + 1e9);
      const pointer = { storageNamespace, identifier, identifierType: 'relative' } as const;
      return this.engine.objects.stage({
        repository,
        branch,
        path: keyOf(place(change)),
        physicalAddress: this.adapter.absoluteUri(pointer),
        checksum: identifier,
        size: 1,
        mayReadRepository: () => true,
      });
    });
    await this.engine.commits.create({ repository, branch, message: 'changes', actor });
  }

  async stagingToken(branch: string): Promise<Buffer> {
    const { instanceUid } = await this.engine.repositories.get(repository);
    const found = await this.kv.get(
      Buffer.from(`${repository}-${instanceUid}`),
      Buffer.from(`branches/${branch}`),
    );
    if (found === undefined) throw new Error(`no branch ${branch}`);
    return Buffer.from(branchMessage.decode(found.value).stagingToken);
  }

  /** One run; answers how many objects it deleted. */
  async collect(options: { readonly hard?: boolean } = {}): Promise<number> {
    const hard = options.hard === true;
    const run = await this.engine.gcRuns.start({
      repository,
      user: 'bench',
      dryRun: !hard,
      hard,
      maxPercent: 100,
    });
    const job = this.engine.jobs.find(({ name }) => name === 'collect-garbage');
    await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
    const { state, error, report } = await this.engine.gcRuns.get({ repository, run });
    if (state !== 'completed' || report === undefined) throw new Error(error);
    return report.classes.reduce((sum, row) => sum + row.deleted.objects, 0);
  }

  /** Prints what the work took. */
  async measured(name: string, work: () => Promise<unknown>): Promise<void> {
    this.#phases.clear();
    this.#peak = 0;
    const before = anonymousMegabytes();
    const begun = performance.now();
    const usage = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(usage);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const parts = [...this.#phases].map(([phase, took]) => `${phase} ${took.toFixed(1)} s`).join(', ');
    const memory = `${Math.max(0, Math.round(this.#peak - before))} MB more than before`;
    const cpu = `${((user + system) / 1e6).toFixed(1)} s of processors`;
    const told = typeof result === 'string' ? `, ${result}` : '';
    process.stdout.write(`${name}: ${seconds} s (${parts}), ${cpu}, ${memory}${told}\n`);
  }

  phaseSeconds(phase: string): number {
    return this.#phases.get(phase) ?? 0;
  }

  async close(): Promise<void> {
    clearInterval(this.#sampler);
    await this.engine.close();
    await this.adapter.close();
    await this.kv.close();
  }
}

export function anonymousMegabytes(): number {
  const line = /RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(line?.[1] ?? 0) / 1024;
}

export async function concurrently(
  count: number,
  work: (index: number) => Promise<unknown>,
  workers = 128,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(workers, count) }, worker));
}
