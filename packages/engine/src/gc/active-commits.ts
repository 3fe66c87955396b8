import type { CommitTable } from './commit-table.ts';

const secondsPerDay = 86_400;

export interface RetentionInput {
  readonly commits: CommitTable;
  /** Head commit of every branch (hidden ones too) with the days its history is kept. */
  readonly heads: Iterable<{ readonly commitId: string; readonly retentionDays: number }>;
  /** Commits that stay whatever their age. */
  readonly tagged: Iterable<string>;
  readonly defaultRetentionDays: number;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * The commits whose data must stay, marked by 1: per branch every commit that was its head at or after the threshold, the
 * same for histories that no branch leads to any more, every tagged commit, and every commit recorded since the run began.
 */
export function findActiveCommits(input: RetentionInput): Uint8Array {
  const { commits } = input;
  const active = new Uint8Array(commits.count);
  const isMainParent = new Uint8Array(commits.count);
  for (let index = 0; index < commits.count; index += 1) {
    if (commits.isRecent(index)) active[index] = 1;
    const parent = commits.mainParent(index);
    if (parent !== undefined) isMainParent[parent] = 1;
  }
  for (const id of input.tagged) {
    const index = commits.indexOf(id);
    if (index >= 0) active[index] = 1;
  }
  const daysOfHead = new Map<number, number>();
  for (const { commitId, retentionDays } of input.heads) {
    const index = commits.indexOf(commitId);
    // Several branches may share a head: the longest retention keeps its history.
    if (index >= 0) daysOfHead.set(index, Math.max(retentionDays, daysOfHead.get(index) ?? 0));
  }
  const walk = new HistoryWalk(commits, active);
  for (let start = 0; start < commits.count; start += 1) {
    const days = daysOfHead.get(start);
    if (days === undefined && isMainParent[start] === 1) continue;
    const threshold = input.now - (days ?? input.defaultRetentionDays) * secondsPerDay;
    if (days === undefined) walk.from(start, commits.createdAt(start), threshold);
    else {
      active[start] = 1;
      walk.from(commits.mainParent(start), commits.createdAt(start), threshold);
    }
  }
  return active;
}

class HistoryWalk {
  readonly #commits: CommitTable;
  readonly #active: Uint8Array;
  /** The lowest threshold a commit was walked over with; infinite when it was not. */
  readonly #walkedWith: Float64Array;

  constructor(commits: CommitTable, active: Uint8Array) {
    this.#commits = commits;
    this.#active = active;
    this.#walkedWith = new Float64Array(commits.count).fill(Number.POSITIVE_INFINITY);
  }

  /** A commit was a head until its successor was made. */
  from(start: number | undefined, successorMade: number, threshold: number): void {
    let headUntil = successorMade;
    for (let next = start; next !== undefined; next = this.#commits.mainParent(next)) {
      // Before the look at earlier walks: those came by another successor, which may have been made long ago.
      if (headUntil > threshold) this.#active[next] = 1;
      if ((this.#walkedWith[next] ?? Number.POSITIVE_INFINITY) <= threshold) return;
      this.#walkedWith[next] = threshold;
      headUntil = this.#commits.createdAt(next);
    }
  }
}
