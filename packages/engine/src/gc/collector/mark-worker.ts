import { parentPort } from 'node:worker_threads';
import { FileSource, TableReader, unequalBlocks, ValueScan } from '@svc/sstable';
import { MarkCache } from './mark-cache.ts';
import { freshMarks, joined, MarkList } from './mark-list.ts';

/** A range, and where it can be read. */
export interface RangeSource {
  readonly id: string;
  /** Undefined: its marks are known, and its file is not at hand. */
  readonly path: string | undefined;
  readonly count: number;
}

export interface MarkJob {
  readonly job: number;
  /** Of the marks that are known. */
  readonly folder: string;
  readonly range: RangeSource;
  /** What these hold is marked. */
  readonly shown: readonly RangeSource[];
}

export interface MarkAnswer {
  readonly job: number;
  /** Undefined: it could not be done here. */
  readonly fresh: Uint32Array<ArrayBuffer> | undefined;
}

/** Entry of the threads that read ranges for the collector; the bundle emits it as a file of its own. */
parentPort?.on('message', ({ job, folder, range, shown }: MarkJob) => {
  let fresh: Uint32Array<ArrayBuffer> | undefined;
  try {
    fresh = freshByBlocks(range, shown) ?? freshByMarks(new MarkCache(folder), range, shown);
  } catch {
    // Whoever asked reads the range again, and sees what is wrong with it.
  }
  const answer: MarkAnswer = { job, fresh: fresh?.slice() };
  parentPort?.postMessage(answer, answer.fresh === undefined ? [] : [answer.fresh.buffer]);
});

/** Reads only the blocks that differ; undefined unless the files of all are at hand. */
function freshByBlocks(
  range: RangeSource,
  shown: readonly RangeSource[],
): Uint32Array<ArrayBuffer> | undefined {
  if (shown.length === 0 || [range, ...shown].some(({ path }) => path === undefined)) return undefined;
  const tables: TableReader[] = [];
  try {
    for (const { path = '' } of [range, ...shown]) tables.push(new TableReader(new FileSource(path)));
    const [own, ...others] = tables;
    if (own === undefined) return undefined;
    // Blocks that are passed over are not counted, so the table must tell.
    checkCount(Number(own.properties().get('count')?.toString()), range);
    const unequal = unequalBlocks(own, others);
    const before = others.map((table, place) => marksIn(table, unequal.others[place] ?? []));
    return freshMarks(marksIn(own, unequal.own), [joined(before)]);
  } finally {
    for (const table of tables) table.close();
  }
}

function marksIn(table: TableReader, blocks: readonly number[]): Uint32Array<ArrayBuffer> {
  const list = new MarkList();
  const values = new ValueScan(table);
  for (const block of blocks) values.showBlock(block, list.addValue);
  return list.numbers;
}

function freshByMarks(
  cache: MarkCache,
  range: RangeSource,
  shown: readonly RangeSource[],
): Uint32Array<ArrayBuffer> {
  const others = shown.map((other) => marksOf(cache, other));
  return freshMarks(marksOf(cache, range), others);
}

function marksOf(cache: MarkCache, range: RangeSource): Uint32Array<ArrayBuffer> {
  const { id, path, count } = range;
  const known = cache.readRange(id);
  if (known !== undefined) return known;
  if (path === undefined) throw new Error('the marks of a range are gone');
  const reader = new TableReader(new FileSource(path));
  try {
    const list = new MarkList(count);
    const values = new ValueScan(reader);
    while (values.nextBlock(list.addValue));
    checkCount(list.values, range);
    const { numbers } = list;
    cache.writeRange(id, numbers);
    return numbers;
  } finally {
    reader.close();
  }
}

function checkCount(found: number, { count }: RangeSource): void {
  if (found !== count) throw new Error('a range does not hold what its tree says');
}
