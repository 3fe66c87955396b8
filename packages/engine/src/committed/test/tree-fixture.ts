import { createMemAdapter } from '@svc/block';
import type { BlockAdapter } from '@svc/block';
import { createCommittedTrees, type CommittedTreesOptions } from '../committed-trees.ts';
import type { CommittedContext } from '../context.ts';
import type { CommittedTrees, DiffIterator, RecordIterator, TreeRecord } from '../tree.ts';

export const context: CommittedContext = {
  storageId: '',
  storageNamespace: 'mem://repo',
  metadataPrefix: '_svc',
};

export interface TestTrees {
  readonly trees: CommittedTrees;
  readonly adapter: BlockAdapter;
}

/** Trees over a memory store; ranges of a few records, so that every border occurs. */
export async function openTestTrees(
  cacheDir: string,
  options: Partial<CommittedTreesOptions> & { adapter?: BlockAdapter } = {},
): Promise<TestTrees> {
  const adapter = options.adapter ?? createMemAdapter({});
  const trees = await createCommittedTrees({
    blockStores: { get: () => adapter },
    cacheDir,
    cacheSizeBytes: 100_000_000,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 10_000_000,
    minRangeSize: 0,
    maxRangeSize: 600,
    raggedness: 5,
    evict: true,
    worker: false,
    ...options,
  });
  return { trees, adapter };
}

/** Key to content; the content is the identity, and the data carries who wrote it. */
export type Model = ReadonlyMap<string, string>;

export function toRecord(key: string, content: string, writer = 'w'): TreeRecord {
  return { key: Buffer.from(key), identity: Buffer.from(content), data: Buffer.from(`${content}@${writer}`) };
}

export function sorted(model: Model): [string, string][] {
  return [...model].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** A run of records from memory. Every `pauseEvery`-th step is a promise. */
export class ArrayIterator implements RecordIterator {
  readonly #records: readonly TreeRecord[];
  readonly #pauseEvery: number;
  #at = -1;

  constructor(records: readonly TreeRecord[], pauseEvery = Number.POSITIVE_INFINITY) {
    this.#records = records;
    this.#pauseEvery = pauseEvery;
  }

  get key(): Buffer {
    return this.#current().key;
  }

  get identity(): Buffer {
    return this.#current().identity;
  }

  get data(): Buffer {
    return this.#current().data;
  }

  next(): boolean | Promise<boolean> {
    this.#at++;
    const more = this.#at < this.#records.length;
    return this.#at % this.#pauseEvery === this.#pauseEvery - 1 ? Promise.resolve(more) : more;
  }

  seek(key: Uint8Array): void {
    const at = this.#records.findIndex((record) => Buffer.compare(record.key, key) >= 0);
    this.#at = (at < 0 ? this.#records.length : at) - 1;
  }

  close(): void {}

  #current(): TreeRecord {
    return this.#records[this.#at]!;
  }
}

export function recordsOf(model: Model, writer = 'w'): ArrayIterator {
  return new ArrayIterator(
    sorted(model).map(([key, content]) => toRecord(key, content, writer)),
    7,
  );
}

/** Changes that turn `from` into `to`, plus `noise`: keys whose change has no effect. */
export function changesBetween(
  from: Model,
  to: Model,
  noise: readonly string[] = [],
  writer = 'w',
): ArrayIterator {
  const changes = new Map<string, TreeRecord>();
  for (const key of noise) {
    const content = to.get(key);
    if (content === from.get(key)) {
      changes.set(key, content === undefined ? tombstone(key) : toRecord(key, content, 'noise'));
    }
  }
  for (const key of from.keys()) if (!to.has(key)) changes.set(key, tombstone(key));
  for (const [key, content] of to)
    if (from.get(key) !== content) changes.set(key, toRecord(key, content, writer));
  return new ArrayIterator(
    [...changes.values()].sort((a, b) => Buffer.compare(a.key, b.key)),
    5,
  );
}

function tombstone(key: string): TreeRecord {
  return { key: Buffer.from(key), identity: Buffer.alloc(0), data: Buffer.alloc(0) };
}

export async function readTree(
  trees: CommittedTrees,
  id: string,
  from?: string,
): Promise<Map<string, string>> {
  const records = trees.iterate(context, id, from === undefined ? undefined : Buffer.from(from));
  const model = new Map<string, string>();
  while (await records.next()) model.set(records.key.toString(), records.identity.toString());
  records.close();
  return model;
}

export async function writeTree(trees: CommittedTrees, model: Model, writer = 'w'): Promise<string> {
  return (await trees.write(context, recordsOf(model, writer))).metaRangeId;
}

export async function readDiff(diff: DiffIterator): Promise<string[]> {
  const shown: string[] = [];
  while (await diff.next()) shown.push(`${diff.type} ${diff.key.toString()}=${diff.identity.toString()}`);
  diff.close();
  return shown;
}
