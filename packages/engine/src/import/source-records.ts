import { BlockError, type BlockAdapter, type WalkedObject } from '@svc/block';
import {
  addressFull,
  emptyStringMap,
  encodeEntry,
  entryIdentity,
  timestampFromMillis,
  type Entry,
} from '@svc/encoding';
import { fromBlockError } from '../context/block-refusals.ts';
import type { TreeRecord } from '../committed/tree.ts';
import { invalid } from '../context/refusals.ts';
import { maxKeyBytes } from '../names/names.ts';
import type { ImportSource } from './import-sources.ts';

/** Fewer than a page: what is written at once is not copied by the collector. */
const recordsAtOnce = 100;

/** The entries of all sources as one sorted run of pages; of equal keys the later source wins. */
export async function* sourceRecords(
  adapter: BlockAdapter,
  storageNamespace: string,
  sources: readonly ImportSource[],
  signal: AbortSignal,
): AsyncGenerator<readonly TreeRecord[]> {
  const runs = sources.map((source) => recordsOf(adapter, storageNamespace, source, signal));
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) yield* only;
  else yield* mergeRuns(runs);
}

async function* recordsOf(
  adapter: BlockAdapter,
  storageNamespace: string,
  source: ImportSource,
  signal: AbortSignal,
): AsyncGenerator<TreeRecord[]> {
  try {
    if (source.failure !== undefined) throw new BlockError(source.failure.kind, source.failure.message);
    if (source.type === 'object') {
      const pointer = { storageNamespace, identifier: source.uri, identifierType: 'full' } as const;
      const properties = await adapter.properties(pointer);
      yield [toRecord(source.destination, { ...properties, uri: source.uri, relativeKey: '' })];
      return;
    }
    for await (const page of adapter.walk(source.uri, { parallel: true, signal })) {
      for (let start = 0; start < page.length; start += recordsAtOnce) {
        const some = page.slice(start, start + recordsAtOnce);
        yield some.map((object) => toRecord(source.destination + object.relativeKey, object));
      }
    }
  } catch (error) {
    throw fromBlockError(error);
  }
}

function toRecord(path: string, object: WalkedObject): TreeRecord {
  const key = Buffer.from(path);
  if (key.length > maxKeyBytes) {
    throw invalid(`key ${path.slice(0, 60)}… of ${object.uri} is longer than ${maxKeyBytes} bytes`, 'import');
  }
  const entry: Entry = {
    address: object.uri,
    addressType: addressFull,
    lastModified: timestampFromMillis(object.lastModified.getTime()),
    size: object.size,
    etag: object.etag,
    metadata: emptyStringMap,
    contentType: '',
  };
  return { key, identity: entryIdentity(entry), data: encodeEntry(entry) };
}

const mergedPage = 1000;

interface Run {
  readonly pages: AsyncIterator<readonly TreeRecord[]>;
  page: readonly TreeRecord[];
  at: number;
  /** Later sources win. */
  readonly rank: number;
}

async function* mergeRuns(
  sources: readonly AsyncGenerator<readonly TreeRecord[]>[],
): AsyncGenerator<TreeRecord[]> {
  const live: Run[] = [];
  for (const [rank, pages] of sources.entries()) {
    const run: Run = { pages, page: [], at: -1, rank };
    if (await advance(run)) live.push(run);
  }
  let merged: TreeRecord[] = [];
  while (live.length > 0) {
    let winner = live[0];
    for (const run of live) {
      if (winner === undefined) break;
      const order = Buffer.compare(current(run).key, current(winner).key);
      if (order < 0 || (order === 0 && run.rank > winner.rank)) winner = run;
    }
    if (winner === undefined) break;
    const record = current(winner);
    merged.push(record);
    for (const run of live.slice()) {
      if (!current(run).key.equals(record.key)) continue;
      if (!(await advance(run))) live.splice(live.indexOf(run), 1);
    }
    if (merged.length < mergedPage) continue;
    yield merged;
    merged = [];
  }
  if (merged.length > 0) yield merged;
}

function current(run: Run): TreeRecord {
  const record = run.page[run.at];
  if (record === undefined) throw new Error('a live run stands on a record');
  return record;
}

async function advance(run: Run): Promise<boolean> {
  run.at += 1;
  while (run.at >= run.page.length) {
    const page = await run.pages.next();
    if (page.done === true) return false;
    run.page = page.value;
    run.at = 0;
  }
  return true;
}
