import type { CommittedContext } from '../../committed/context.ts';
import type { CommittedTrees, TreeRange } from '../../committed/tree.ts';
import type { GcRootReport } from '../../face/gc-runs.ts';
import type { KeptBy } from '../kept-refs.ts';
import type { Roots } from './roots.ts';
import { Tally } from './tally.ts';

const secondsPerDay = 86_400;
/** So many are told, those that hold most by themselves first. */
const mostRoots = 1000;
/** Instead of a root: nothing that is told of here. */
const nobody = -1;
const several = -2;

export interface RootParts {
  readonly trees: CommittedTrees;
  readonly committed: CommittedContext;
  readonly roots: Roots;
  /** Bytes of the objects of every range. */
  readonly sizes: ReadonlyMap<string, number>;
  readonly pause: () => Promise<void>;
}

interface Root {
  readonly index: number;
  readonly keptBy: KeptBy[];
  readonly all: Tally;
  readonly only: Tally;
  commits: number;
}

/**
 * What each branch holds, and all tags, moves, bindings and keeps together: sums over the ranges that their commits
 * reach, and over those that nothing else reaches.
 */
export class RootFigures {
  readonly #parts: RootParts;
  readonly #roots: Root[];
  /** By commit: what keeps it. */
  readonly #owners: Int32Array;
  readonly #isKnown: Uint8Array;
  /** By commit: what its tree holds, and what its main parent's tree holds besides; objects, then bytes. */
  readonly #own: Float64Array;
  readonly #besides: Float64Array;
  readonly #ranges = new Map<string, { readonly count: number; owner: number }>();

  constructor(parts: RootParts) {
    this.#parts = parts;
    this.#roots = grouped(parts.roots.keptBy);
    const { count } = parts.roots.commits;
    this.#owners = new Int32Array(count).fill(nobody);
    this.#isKnown = new Uint8Array(count);
    this.#own = new Float64Array(2 * count);
    this.#besides = new Float64Array(2 * count);
  }

  async find(): Promise<GcRootReport[]> {
    for (const { index, keptBy } of this.#roots) {
      for (const commit of this.#reached(keptBy)) {
        const owner = this.#owners[commit];
        this.#owners[commit] = owner === nobody || owner === index ? index : several;
      }
      await this.#parts.pause();
    }
    await this.#lookAtTrees();
    for (const [id, { owner, count }] of this.#ranges)
      this.#roots[owner]?.only.addMany(count, this.#bytes(id));
    for (const root of this.#roots) await this.#sum(root);
    return this.#roots
      .sort((left, right) => right.only.bytes - left.only.bytes || right.all.bytes - left.all.bytes)
      .slice(0, mostRoots)
      .map(told);
  }

  /** Commits with their main parents as far as the rules keep them; some may come twice. */
  *#reached(keptBy: readonly KeptBy[]): Generator<number> {
    const { commits, hasRules, begun } = this.#parts.roots;
    for (const { commitId, retentionDays } of keptBy) {
      let next: number | undefined = commits.indexOf(commitId);
      if (next < 0) continue;
      const days = hasRules ? (retentionDays ?? 0) : Number.POSITIVE_INFINITY;
      const threshold = retentionDays === undefined ? Number.POSITIVE_INFINITY : begun - days * secondsPerDay;
      // Records that were made up may form a ring.
      for (let left = commits.count; next !== undefined && left > 0; left -= 1) {
        yield next;
        if (commits.createdAt(next) <= threshold) break;
        next = commits.mainParent(next);
      }
    }
  }

  /** Down every history: what lies next to each other is opened once. */
  async #lookAtTrees(): Promise<void> {
    const { commits } = this.#parts.roots;
    const hasSuccessor = new Uint8Array(commits.count);
    for (let index = 0; index < commits.count; index += 1) {
      const parent = commits.mainParent(index);
      if (parent !== undefined) hasSuccessor[parent] = 1;
    }
    for (const kind of [0, 1]) {
      for (let start = 0; start < commits.count; start += 1) {
        if (hasSuccessor[start] === kind) await this.#lookDown(start);
      }
    }
  }

  async #lookDown(start: number): Promise<void> {
    const { commits, active } = this.#parts.roots;
    let child: { readonly index: number; readonly ranges: ReadonlySet<string> } | undefined;
    for (let index: number | undefined = start; index !== undefined; index = commits.mainParent(index)) {
      const isKnown = this.#isKnown[index] === 1;
      if (isKnown && child === undefined) return;
      const ranges = active[index] === 1 ? await this.#rangesOf(index) : [];
      if (child !== undefined) {
        const { ranges: shown } = child;
        this.#count(
          this.#besides,
          child.index,
          ranges.filter(({ id }) => !shown.has(id)),
        );
      }
      if (isKnown) return;
      this.#isKnown[index] = 1;
      this.#count(this.#own, index, ranges);
      for (const { id, count } of ranges) {
        const owner = this.#owners[index] ?? nobody;
        const range = this.#ranges.get(id);
        if (range === undefined) this.#ranges.set(id, { count, owner });
        else if (range.owner !== owner) range.owner = several;
      }
      child = { index, ranges: new Set(ranges.map(({ id }) => id)) };
      await this.#parts.pause();
    }
  }

  async #sum(root: Root): Promise<void> {
    const { trees } = this.#parts.roots;
    const seen = new Set<string>();
    let last: number | undefined;
    const isBranch = root.keptBy[0]?.root === 'branch';
    const counted = new Set<number>();
    for (const commit of this.#reached(root.keptBy)) {
      if (isBranch) {
        root.commits += 1;
        const counts = last === undefined ? this.#own : this.#besides;
        const at = 2 * (last ?? commit);
        root.all.addMany(counts[at] ?? 0, counts[at + 1] ?? 0);
        last = commit;
        continue;
      }
      if (counted.has(commit)) continue;
      counted.add(commit);
      root.commits += 1;
      if (trees[commit] === '') continue;
      for (const { id, count } of await this.#rangesOf(commit)) {
        if (seen.has(id)) continue;
        seen.add(id);
        root.all.addMany(count, this.#bytes(id));
      }
    }
    await this.#parts.pause();
  }

  async #rangesOf(commit: number): Promise<readonly TreeRange[]> {
    const tree = this.#parts.roots.trees[commit] ?? '';
    return tree === '' ? [] : this.#parts.trees.ranges(this.#parts.committed, tree);
  }

  #count(counts: Float64Array, commit: number, ranges: readonly TreeRange[]): void {
    counts[2 * commit] = ranges.reduce((sum, { count }) => sum + count, 0);
    counts[2 * commit + 1] = ranges.reduce((sum, { id }) => sum + this.#bytes(id), 0);
  }

  #bytes(range: string): number {
    return this.#parts.sizes.get(range) ?? 0;
  }
}

/** Every branch by itself, everything else by its kind. */
function grouped(keptBy: readonly KeptBy[]): Root[] {
  const roots = new Map<string, Root>();
  for (const kept of keptBy) {
    const name = kept.root === 'branch' ? `branch ${kept.branch ?? ''}` : kept.root;
    const root = roots.get(name);
    if (root !== undefined) root.keptBy.push(kept);
    else {
      roots.set(name, {
        index: roots.size,
        keptBy: [kept],
        all: new Tally(),
        only: new Tally(),
        commits: 0,
      });
    }
  }
  return [...roots.values()];
}

function told({ keptBy, commits, all, only }: Root): GcRootReport {
  const { root = 'branch', branch } = keptBy[0] ?? {};
  return {
    root,
    ...(branch === undefined ? {} : { branch }),
    commits,
    objects: all.objects,
    bytes: all.bytes,
    onlyObjects: only.objects,
    onlyBytes: only.bytes,
  };
}
