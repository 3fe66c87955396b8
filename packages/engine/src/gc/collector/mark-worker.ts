import { parentPort } from 'node:worker_threads';
import { FileSource, TableReader, ValueScan } from '@svc/sstable';
import { MarkCache } from './mark-cache.ts';
import { MarkKernel } from './mark-kernel.ts';
import { freshMarks, MarkList, type RangeMarks } from './mark-list.ts';
import { rememberedBytes, RememberedMarks } from './remembered-marks.ts';

/** A range, and where it can be read unless its marks are known. */
export interface RangeSource {
  readonly id: string;
  readonly path: string | undefined;
  readonly count: number;
  /** Whether its marks are kept in a file. */
  readonly isKept: boolean;
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
  readonly fresh: RangeMarks | undefined;
}

const kernel = new MarkKernel();
/** The next tree is mostly compared with the ranges that were read for the one before. */
const remembered = new RememberedMarks(rememberedBytes);

/** Entry of the threads that read ranges for the collector; the bundle emits it as a file of its own. */
parentPort?.on('message', ({ job, folder, range, shown }: MarkJob) => {
  const cache = new MarkCache(folder);
  let fresh: RangeMarks | undefined;
  try {
    const others = shown.map((other) => marksOf(cache, other).marks);
    const { marks, bytes } = marksOf(cache, range);
    fresh = { marks: freshMarks(marks, others).slice(), bytes };
  } catch {
    // Whoever asked reads the range again, and sees what is wrong with it.
  }
  const answer: MarkAnswer = { job, fresh };
  parentPort?.postMessage(answer, fresh === undefined ? [] : [fresh.marks.buffer]);
});

function marksOf(cache: MarkCache, source: RangeSource): RangeMarks {
  const known = remembered.get(source.id);
  if (known !== undefined) return known;
  const marks = readMarks(cache, source);
  remembered.add(source.id, marks);
  return marks;
}

function readMarks(cache: MarkCache, { id, path, count, isKept }: RangeSource): RangeMarks {
  const known = cache.readRange(id);
  if (known !== undefined) return known;
  if (path === undefined) throw new Error('the marks of a range are gone');
  const reader = new TableReader(new FileSource(path));
  try {
    const list = new MarkList(count);
    list.addTable(new ValueScan(reader), kernel);
    if (list.values !== count) throw new Error('a range does not hold what its tree says');
    const marks = { marks: list.numbers, bytes: list.bytes };
    if (isKept) cache.writeRange(id, marks);
    return marks;
  } finally {
    reader.close();
  }
}
