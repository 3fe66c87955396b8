import { compareBytes } from '@svc/encoding';
import type { CommittedContext } from '../../committed/context.ts';
import type { CommittedTrees, TreeRange } from '../../committed/tree.ts';
import type { MarkCache } from './mark-cache.ts';
import { joined, type RangeMarks } from './mark-list.ts';
import type { Marks } from './marks.ts';
import { readFresh, type RangeReader } from './range-reader.ts';
import { rememberedBytes } from './remembered-marks.ts';

/** A range that lies over more others than this is compared with some of them: what both have is then marked twice. */
const mostCompared = 4;

const bytesPerMark = 8;

export interface MarkerParts {
  readonly pause: () => Promise<void>;
  /** Without: every range is read here, and nothing is kept. */
  readonly reader?: RangeReader | undefined;
  readonly cache?: MarkCache | undefined;
}

/** Marks one tree after the other, each by what it holds that others did not. */
export class TreeMarker {
  /** Ids of metaranges and ranges. */
  readonly tables = new Set<string>();
  /** Bytes of the objects of every range. */
  readonly sizes = new Map<string, number>();
  /** Of the first tree: the next run begins with one like it. */
  firstRanges: ReadonlySet<string> = new Set();
  /** Everything in them is marked. */
  readonly #done = new Set<string>();
  readonly #trees = new Set<string>();
  readonly #stored: CommittedTrees;
  readonly #context: CommittedContext;
  readonly #marks: Pick<Marks, 'addAll'>;
  readonly #parts: MarkerParts;

  constructor(
    trees: CommittedTrees,
    context: CommittedContext,
    marks: Pick<Marks, 'addAll'>,
    parts: MarkerParts,
  ) {
    this.#stored = trees;
    this.#context = context;
    this.#marks = marks;
    this.#parts = parts;
  }

  has(tree: string): boolean {
    return tree === '' || this.#trees.has(tree);
  }

  /** `shown`: a tree marked before, as active as this one. */
  async mark(tree: string, shown: string, isActive: boolean): Promise<void> {
    if (this.has(tree)) return;
    const ranges = await this.#stored.ranges(this.#context, tree);
    if (this.#trees.size === 0) this.firstRanges = new Set(ranges.map(({ id }) => id));
    for (const { id } of ranges) this.tables.add(id);
    this.tables.add(tree);
    const wanted = ranges.filter(({ id }) => !this.#done.has(id));
    if (wanted.length > 0 && !this.#markKnown(tree, shown, isActive)) {
      await this.#markRanges(tree, shown, { ranges, wanted, isActive });
    }
    for (const { id } of wanted) this.#done.add(id);
    this.#trees.add(tree);
    await this.#parts.pause();
  }

  /** True when the difference was found by an earlier run, and what it passed over is marked in this one, too. */
  #markKnown(tree: string, shown: string, isActive: boolean): boolean {
    const delta = shown === '' ? undefined : this.#parts.cache?.readDelta(tree, shown);
    if (delta === undefined || !delta.passed.every((id) => this.#done.has(id))) return false;
    this.#marks.addAll(delta.marks, isActive);
    for (const [id, bytes] of delta.sizes) this.sizes.set(id, bytes);
    return true;
  }

  async #markRanges(
    tree: string,
    shown: string,
    how: {
      readonly ranges: readonly TreeRange[];
      readonly wanted: readonly TreeRange[];
      readonly isActive: boolean;
    },
  ): Promise<void> {
    const { ranges, wanted, isActive } = how;
    const { cache, reader } = this.#parts;
    const before = shown === '' ? [] : await this.#stored.ranges(this.#context, shown);
    const isLarge = ranges.reduce((sum, { count }) => sum + count * bytesPerMark, 0) > rememberedBytes;
    const found: Uint32Array[] = [];
    const sizes = new Map<string, number>();
    let next = 0;
    const work = async (): Promise<void> => {
      for (let range = wanted[next++]; range !== undefined; range = wanted[next++]) {
        const isKept = isLarge || this.firstRanges.has(range.id);
        const fresh = await this.#fresh(range, overlapping(before, range), isKept);
        this.#marks.addAll(fresh.marks, isActive);
        this.sizes.set(range.id, fresh.bytes);
        if (shown === '') continue;
        found.push(fresh.marks);
        sizes.set(range.id, fresh.bytes);
      }
    };
    // All of them end before anything else is done, also when one fails.
    const lanes = await Promise.allSettled(Array.from({ length: reader?.lanes ?? 1 }, work));
    for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
    if (cache === undefined || shown === '') return;
    const isInBefore = new Set(before.map(({ id }) => id));
    const isWanted = new Set(wanted.map(({ id }) => id));
    const passed = ranges.filter(({ id }) => !isWanted.has(id) && !isInBefore.has(id)).map(({ id }) => id);
    if (ranges.some(({ count }) => count > 0))
      cache.writeDelta(tree, shown, { passed, sizes, marks: joined(found) });
    const isHere = new Set(ranges.map(({ id }) => id));
    for (const { id } of before) if (!isHere.has(id) && !this.firstRanges.has(id)) cache.dropRange(id);
  }

  #fresh(range: TreeRange, shown: readonly TreeRange[], isKept: boolean): Promise<RangeMarks> {
    const { reader, pause } = this.#parts;
    if (reader !== undefined) return reader.fresh(range, shown, isKept);
    return readFresh(this.#stored, this.#context, range, shown, pause);
  }
}

function overlapping(before: readonly TreeRange[], { minKey, maxKey }: TreeRange): readonly TreeRange[] {
  const found: TreeRange[] = [];
  for (const other of before) {
    if (compareBytes(other.maxKey, minKey) < 0) continue;
    if (compareBytes(other.minKey, maxKey) > 0 || found.length === mostCompared) break;
    found.push(other);
  }
  return found;
}
