import { join } from 'node:path';
import type { EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { MarkCache } from './mark-cache.ts';
import { MarkThreads } from './mark-threads.ts';
import type { Marks } from './marks.ts';
import { RangeReader } from './range-reader.ts';
import type { Roots } from './roots.ts';
import { TreeMarker } from './tree-marker.ts';

/** How far down a history a tree is looked for that was marked before. */
const nearEnough = 1000;

export interface MarkedTrees {
  /** Every table that some commit reaches; undefined when one of an inactive commit could not be read. */
  readonly tables: ReadonlySet<string> | undefined;
  /** Bytes of the objects of every range that was read. */
  readonly sizes: ReadonlyMap<string, number>;
}

export interface MarkOptions {
  /** Between slices of work; throws to end the run. */
  readonly pause: () => Promise<void>;
  readonly progress: (commits: number) => void;
  /** For temporary files. */
  readonly scratch: string;
}

/** Marks every address that commits use: of the active ones first, so that what they share counts as active. */
export async function markTrees(
  context: EngineContext,
  scope: RepositoryScope,
  marks: Marks,
  roots: Roots,
  options: MarkOptions,
): Promise<MarkedTrees> {
  const { folder, cpuPercent, cacheSizeBytes, memoryBytes } = context.settings.gc;
  const cache = new MarkCache(join(folder, 'marks', encodeURIComponent(scope.partition.toString())));
  const threads = new MarkThreads(cpuPercent === 100 ? 2 : 1, {
    heapMegabytes: Math.floor(memoryBytes / 4 / 1024 ** 2),
    onBroken: (error) =>
      context.logger.warn(
        { error, repository: scope.repository.id },
        'a thread of the garbage collection could not start or died: the run goes on without threads, which takes longer',
      ),
  });
  const { pause, scratch } = options;
  const reader = new RangeReader(context.trees, scope.committed, { cache, threads, scratch, pause });
  const marker = new TreeMarker(context.trees, scope.committed, marks, { reader, cache, pause });
  try {
    return { tables: await markHistory(context, scope, marker, roots, options), sizes: marker.sizes };
  } finally {
    await threads.close();
    cache.prune(marker.firstRanges, Date.now(), cacheSizeBytes);
  }
}

async function markHistory(
  context: EngineContext,
  scope: RepositoryScope,
  marker: TreeMarker,
  roots: Roots,
  options: MarkOptions,
): Promise<ReadonlySet<string> | undefined> {
  const walk = new HistoryMarker(marker, roots, options);
  await walk.run(true);
  for (const tree of roots.extraTrees) await marker.mark(tree, walk.head, true);
  try {
    await walk.run(false);
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind !== 'corrupt') throw error;
    // Its data counts as never committed, which is deleted as late as the rest.
    context.logger.warn(
      { error, repository: scope.repository.id },
      'a table of an expired commit is missing',
    );
    return undefined;
  }
  return marker.tables;
}

/** Goes down the main parents from every commit that has no successor: neighbours differ least. */
class HistoryMarker {
  readonly #marker: TreeMarker;
  readonly #roots: Roots;
  readonly #options: MarkOptions;
  readonly #walked: Uint8Array;
  #commits = 0;

  constructor(marker: TreeMarker, roots: Roots, options: MarkOptions) {
    this.#marker = marker;
    this.#roots = roots;
    this.#options = options;
    this.#walked = new Uint8Array(roots.commits.count);
  }

  async run(isActive: boolean): Promise<void> {
    this.#walked.fill(0);
    const { commits, defaultHead } = this.#roots;
    const hasSuccessor = new Uint8Array(commits.count);
    for (let index = 0; index < commits.count; index += 1) {
      const parent = commits.mainParent(index);
      if (parent !== undefined) hasSuccessor[parent] = 1;
    }
    const first = defaultHead === undefined ? -1 : commits.indexOf(defaultHead);
    if (first >= 0) await this.#down(first, isActive);
    for (let index = 0; index < commits.count; index += 1) {
      if (hasSuccessor[index] === 0) await this.#down(index, isActive);
    }
    // What is left lies on a ring of parents, which only made-up records can form.
    for (let index = 0; index < commits.count; index += 1) {
      if (this.#walked[index] === 0) await this.#down(index, isActive);
    }
  }

  async #down(start: number, isActive: boolean): Promise<void> {
    const { commits, active, trees } = this.#roots;
    let shown = this.#nearest(start, isActive);
    for (
      let index: number | undefined = start;
      index !== undefined && this.#walked[index] === 0;
      index = commits.mainParent(index)
    ) {
      this.#walked[index] = 1;
      const tree = trees[index] ?? '';
      if ((active[index] === 1) !== isActive) continue;
      await this.#marker.mark(tree, shown, isActive);
      if (tree !== '') shown = tree;
      this.#commits += 1;
      this.#options.progress(this.#commits);
    }
  }

  /** A tree below that was marked, else none: then every range that is not known is read. */
  #nearest(start: number, isActive: boolean): string {
    const { commits, active, trees } = this.#roots;
    let index: number | undefined = start;
    for (let step = 0; index !== undefined && step < nearEnough; step += 1) {
      const tree = trees[index] ?? '';
      const fits = active[index] === 1 || !isActive;
      if (fits && tree !== '' && this.#marker.has(tree)) return tree;
      index = commits.mainParent(index);
    }
    return this.head;
  }

  /** The tree of the default branch, once it is marked. */
  get head(): string {
    const { commits, trees, defaultHead } = this.#roots;
    const tree = defaultHead === undefined ? '' : (trees[commits.indexOf(defaultHead)] ?? '');
    return tree !== '' && this.#marker.has(tree) ? tree : '';
  }
}
