import { join } from 'node:path';
import type { CommittedContext } from '../../committed/context.ts';
import type { CommittedTrees, TreeRange } from '../../committed/tree.ts';
import { EngineError } from '../../errors.ts';
import type { MarkCache } from './mark-cache.ts';
import { freshMarks, MarkList, type RangeMarks } from './mark-list.ts';
import type { MarkThreads } from './mark-threads.ts';
import type { RangeSource } from './mark-worker.ts';

/** Smaller ranges are read here: a thread would take longer to be told. */
const worthThread = 2000;

export interface ReaderParts {
  readonly cache: MarkCache;
  readonly threads: MarkThreads;
  readonly scratch: string;
  readonly pause: () => Promise<void>;
}

/** Reads the marks of ranges: large ones in threads, and each only once. */
export class RangeReader {
  readonly #trees: CommittedTrees;
  readonly #context: CommittedContext;
  readonly #parts: ReaderParts;
  #spares = 0;

  constructor(trees: CommittedTrees, context: CommittedContext, parts: ReaderParts) {
    this.#trees = trees;
    this.#context = context;
    this.#parts = parts;
  }

  /** How many may be asked for at a time: more than there are threads, so that none of them waits for another. */
  get lanes(): number {
    return 3 * this.#parts.threads.size;
  }

  /**
   * The marks of `range` that the `shown` ones do not have, and the bytes of all of it. `isKept`: its marks go to a file,
   * because the next run asks for them or a thread cannot remember so many; those of a range that cannot be read again
   * without another download always do.
   */
  async fresh(range: TreeRange, shown: readonly TreeRange[], isKept: boolean): Promise<RangeMarks> {
    const isForThread = range.count >= worthThread && !this.#parts.threads.isBroken;
    const fresh = isForThread ? await this.#freshInThread(range, shown, isKept) : undefined;
    if (fresh !== undefined) return fresh;
    // Whatever stood in the way may lie in what is kept of them.
    if (isForThread) for (const { id } of [range, ...shown]) this.#parts.cache.dropRange(id);
    return readFresh(this.#trees, this.#context, range, shown, this.#parts.pause);
  }

  /** A damaged or vanished file is left to the one who reads through the cache, and tells of it. */
  async #freshInThread(
    range: TreeRange,
    shown: readonly TreeRange[],
    isKept: boolean,
  ): Promise<RangeMarks | undefined> {
    const { cache, threads } = this.#parts;
    const sources: RangeSource[] = [];
    const next = async (ranges: readonly TreeRange[]): Promise<RangeMarks | undefined> => {
      const [first, ...others] = ranges;
      if (first === undefined) {
        const [own, ...rest] = sources;
        return own && threads.run({ folder: cache.folder, range: own, shown: rest });
      }
      const { id, count } = first;
      const add = (path: string | undefined, isSpare = false): Promise<RangeMarks | undefined> => {
        sources.push({ id, path, count, isKept: isKept || isSpare });
        return next(others);
      };
      return cache.hasRange(id) ? add(undefined) : this.#withFile(id, add);
    };
    const fresh = await next([range, ...shown]);
    await this.#parts.pause();
    return fresh;
  }

  #withFile<Result>(
    id: string,
    use: (path: string, isSpare: boolean) => Promise<Result>,
  ): Promise<Result> | Promise<undefined> {
    const spare = join(this.#parts.scratch, `range-${++this.#spares}`);
    const found = this.#trees.withRangeFile?.(this.#context, id, spare, (path) => use(path, path === spare));
    return found ?? Promise.resolve(undefined);
  }
}

/** Here, without anything kept. */
export async function readFresh(
  trees: CommittedTrees,
  context: CommittedContext,
  range: TreeRange,
  shown: readonly TreeRange[],
  pause: () => Promise<void>,
): Promise<RangeMarks> {
  const read = async ({ id, count }: TreeRange): Promise<RangeMarks> => {
    const list = new MarkList(count);
    await trees.visitRange(context, id, list.addValue, pause);
    if (list.values !== count) {
      const text = `range ${id} holds ${list.values} records, its metarange says ${count}`;
      throw new EngineError('corrupt', text, { subject: 'storage' });
    }
    return { marks: list.numbers, bytes: list.bytes };
  };
  const others: Uint32Array[] = [];
  for (const other of shown) others.push((await read(other)).marks);
  const { marks, bytes } = await read(range);
  return { marks: freshMarks(marks, others), bytes };
}
