// Committed trees on local disk over a local folder as the block store: one million entries of 50-byte keys and
// 150-byte values. Prints wall and CPU time of every step, and the slowest event-loop turn meanwhile.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { pipeline } from 'node:stream/promises';
import { createWriteStream } from 'node:fs';
import type { BlockAdapter, BodySource, ObjectPointer } from '@svc/block';
import {
  type ChangeIterator,
  type CommittedContext,
  type CommittedTrees,
  createCommittedTrees,
  fillPage,
  PageBuilder,
  planWalk,
  type RecordIterator,
} from '@svc/engine';

const total = Number(process.env['ENTRIES'] ?? 1_000_000);
const only = process.argv[2];
const folder = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'trees-bench-'));
const context: CommittedContext = {
  storageId: '',
  storageNamespace: 'local://bench',
  metadataPrefix: '_svc',
};

/** A plain folder as block store, so that only the trees are measured. */
function folderStore(root: string): BlockAdapter {
  const pathOf = (pointer: ObjectPointer): string => join(root, pointer.identifier);
  const store = {
    async put(pointer: ObjectPointer, body: BodySource) {
      const path = pathOf(pointer);
      mkdirSync(dirname(path), { recursive: true });
      const temporary = `${path}.part`;
      if (body instanceof Uint8Array) await writeFile(temporary, body);
      else await pipeline(body.stream, createWriteStream(temporary));
      await rename(temporary, path);
      return { lastModified: undefined, etag: undefined };
    },
    async get(pointer: ObjectPointer) {
      const bytes = await readFile(pathOf(pointer));
      return { size: bytes.length, bytes, stream: () => undefined, dispose: () => undefined };
    },
    copyFile,
  };
  return store as unknown as BlockAdapter;
}

const value = Buffer.alloc(150);
const identity = value.subarray(1, 33);
const data = value.subarray(35, 150);
value.write('\n.data/gk3f7ctl8q3s73frlr8g/d2a4f1tl8q3s73frlr80\x12\x06', 35, 'latin1');
value.write('5d41402abc4b2a76b9719d911017c5920\x01:\x18application/octet-stream', 85, 'latin1');

/** Entries in key order, made on the fly in one buffer. */
class Entries implements ChangeIterator {
  readonly key = Buffer.alloc(50);
  readonly identity = identity;
  readonly data = data;
  readonly #from: number;
  readonly #to: number;
  readonly #step: number;
  readonly #suffix: string;
  readonly #salt: number;
  #at: number;

  constructor(from: number, to: number, options: { step?: number; suffix?: string; salt?: number } = {}) {
    this.#from = from;
    this.#to = to;
    this.#step = options.step ?? 1;
    this.#suffix = options.suffix ?? '.snappy.parquet..';
    this.#salt = options.salt ?? 0;
    this.#at = from - this.#step;
  }

  next(): boolean {
    this.#at += this.#step;
    if (this.#at >= this.#to) return false;
    const i = this.#at;
    if (i === this.#from) this.key.write(keyText(i, this.#suffix), 0, 'latin1');
    else writeKeyDigits(i, this.key);
    let seed = Math.imul(i + 1 + this.#salt, 0x9e3779b1);
    for (let at = 0; at < 32; at += 4) {
      seed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d);
      seed ^= seed >>> 12;
      identity.writeInt32LE(seed, at);
    }
    identity.copy(value, 90, 0, 12);
    return true;
  }

  seek(): void {
    this.#at = this.#from - this.#step;
  }

  close(): void {}
}

/** Makes `key` the key of number `i`, when it holds another one with the same suffix. */
function writeKeyDigits(i: number, key: Buffer): void {
  let rest = Math.floor(i / 1000);
  for (let at = 14; at >= 7; at--) {
    key[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  rest = i;
  for (let at = 32; at >= 21; at--) {
    key[at] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

function keyText(i: number, suffix = '.snappy.parquet..'): string {
  const folder = String(Math.floor(i / 1000)).padStart(8, '0');
  return `folder-${folder}/part-${String(i).padStart(12, '0')}${suffix}`;
}

async function measure<Result>(
  step: string,
  run: () => Promise<Result>,
  count?: number,
  rounds = 1,
): Promise<Result> {
  let best = Number.POSITIVE_INFINITY;
  let cpu = Number.POSITIVE_INFINITY;
  let slowest = Number.POSITIVE_INFINITY;
  let result: Result | undefined;
  for (let round = 0; round < rounds; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const before = process.cpuUsage();
    const started = performance.now();
    result = await run();
    const wall = performance.now() - started;
    const used = process.cpuUsage(before);
    delay.disable();
    best = Math.min(best, wall);
    cpu = Math.min(cpu, (used.user + used.system) / 1000);
    slowest = Math.min(slowest, delay.max / 1e6);
  }
  const rate = count === undefined ? '' : `${Math.round((count / best) * 1000)}/s`;
  const anonymous = /RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  console.log(
    `${step.padEnd(58)} ${best.toFixed(1).padStart(9)} ms wall ${cpu.toFixed(1).padStart(9)} ms cpu ${slowest.toFixed(1).padStart(7)} ms turn ${String(Math.round(Number(anonymous) / 1024)).padStart(5)} MB  ${rate}`,
  );
  return result as Result;
}

function openTrees(cacheDir: string, raggedness = 50_000): Promise<CommittedTrees> {
  return createCommittedTrees({
    blockStores: { get: () => folderStore(join(folder, 'store')) },
    cacheDir,
    cacheSizeBytes: 4_000_000_000,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 400_000_000,
    minRangeSize: 0,
    maxRangeSize: 20_971_520,
    raggedness,
    evict: true,
  });
}

async function drain(records: RecordIterator): Promise<number> {
  let count = 0;
  for (;;) {
    const next = records.next();
    if (!(next instanceof Promise ? await next : next)) break;
    count++;
  }
  records.close();
  return count;
}

const wants = (name: string): boolean => only === undefined || only === name;

try {
  const trees = await openTrees(join(folder, 'cache'));
  const plain = Buffer.alloc(200 * Math.min(total, 1_000_000), 7);
  const copy = Buffer.allocUnsafeSlow(plain.length);
  await measure('baseline: memcpy of the records', async () => plain.copy(copy), total, 3);
  await measure(
    'baseline: SHA-256 of the records',
    async () => createHash('sha256').update(plain).digest(),
    total,
    2,
  );
  await measure(
    'baseline: SHA-256 of 50 000 records',
    async () => createHash('sha256').update(plain.subarray(0, 10_000_000)).digest(),
    50_000,
    3,
  );
  await measure('baseline: making the records', () => drain(new Entries(0, total)), total);

  const base = await measure(
    'write sorted entries to ranges',
    () => trees.write(context, new Entries(0, total)),
    total,
    2,
  );
  const baseId = base.metaRangeId;
  if (wants('scan')) await measure('full scan', () => drain(trees.iterate(context, baseId)), total, 2);
  if (wants('get')) {
    const keys = Array.from({ length: 200_000 }, (_, i) => Buffer.from(keyText((i * 7919 * 131) % total)));
    await measure(
      'point lookup, random, warm',
      async () => {
        for (const key of keys) if (!trees.getAtOnce(context, baseId, key)) throw new Error('lost a record');
      },
      keys.length,
      3,
    );
  }
  if (wants('list')) {
    const page = async (): Promise<void> => {
      const walk = planWalk(Buffer.alloc(0), Buffer.alloc(0), Buffer.from('/'));
      const records = trees.iterate(context, baseId, walk.start);
      const builder = new PageBuilder();
      await fillPage(builder, records, walk, 1000);
      records.close();
      if (builder.count !== Math.min(1000, total / 1000)) throw new Error(`listed ${builder.count}`);
    };
    await measure('list page of 1 000 folders', page, 1000, 60);
    await measure(
      'list page of 1 000 objects',
      async () => {
        const records = trees.iterate(context, baseId, Buffer.from(keyText(400_000)));
        for (let i = 0; i < 1000; i++) await records.next();
        records.close();
      },
      1000,
      25,
    );
  }

  let round = 0;
  const one = await openTrees(join(folder, 'cache-one'), 2_000_000);
  const oneId = (await one.write(context, new Entries(0, 50_000))).metaRangeId;
  const change = async (at: number, suffix = '.snappy.parquet.x'): Promise<string> =>
    (await one.apply(context, oneId, new Entries(at, at + 1, { suffix, salt: ++round }))).metaRangeId;
  if (wants('small')) {
    for (const [where, at] of [
      ['first', 0],
      ['middle', 25_000],
      ['last', 49_990],
    ] as const) {
      await measure(`apply 1 added key, ${where} of 50 000`, () => change(at), 1, 15);
    }
    await measure(
      'apply 1 changed value, middle of 50 000',
      () => change(25_000, '.snappy.parquet..'),
      1,
      15,
    );
  }
  if (wants('diff')) {
    const three = async (): Promise<string> => {
      let id = baseId;
      for (const at of [0.1, 0.5, 0.9]) {
        const key = Math.floor(total * at) + 5;
        id = (
          await trees.apply(
            context,
            id,
            new Entries(key, key + 1, { suffix: '.snappy.parquet.y', salt: ++round }),
          )
        ).metaRangeId;
      }
      return id;
    };
    for (let i = 0; i < 7; i++) {
      const changed = await three();
      await measure('diff, 3 ranges differ by one entry, first time', () =>
        drain(trees.diff(context, baseId, changed)),
      );
      await measure('diff, repeated', () => drain(trees.diff(context, baseId, changed)));
    }
  }
  if (wants('merge')) {
    for (let i = 0; i < 7; i++) {
      const source = await change(25_100 + i);
      const destination = await change(28_000 + i);
      const merged = await measure('merge, both sides changed one range of 50 000', () =>
        one.merge(context, { base: oneId, source, destination, strategy: 'none' }),
      );
      if (merged.kind !== 'merged') throw new Error('unexpected conflict');
    }
    const apply = async (at: number): Promise<string> =>
      (await trees.apply(context, baseId, new Entries(at, at + 1, { salt: ++round }))).metaRangeId;
    const source = await apply(100);
    const destination = await apply(total - 100);
    await measure(
      'merge, sides changed different ranges',
      () => trees.merge(context, { base: baseId, source, destination, strategy: 'none' }),
      1,
      5,
    );
  }
  if (wants('conflicts')) {
    const changed = async (salt: number): Promise<string> =>
      (await trees.apply(context, baseId, new Entries(0, total, { salt }))).metaRangeId;
    const input = { base: baseId, source: await changed(77), destination: await changed(78) };
    await measure(
      'merge, everything in conflict, one rule',
      async () => {
        const merged = await trees.mergeResolved(
          context,
          { ...input, strategy: 'none', patterns: [{ kind: 'prefix', pattern: 'folder', take: 'source' }] },
          new Entries(0, 0),
        );
        if (merged.kind !== 'merged') throw new Error('unexpected conflict');
      },
      total,
      2,
    );
    await measure('list all conflicts', () => drain(trees.mergeDiff(context, input)), total, 2);
  }
  if (wants('large')) {
    await measure(
      'apply 1 M added keys over the tree',
      () => trees.apply(context, baseId, new Entries(0, total, { suffix: '.snappy.parquet.z' })),
      total,
      2,
    );
    await measure(
      'apply 1 M changed values over the tree',
      () => trees.apply(context, baseId, new Entries(0, total, { salt: 99 })),
      total,
      2,
    );
  }
  await one.close();
  await trees.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
