const secondsPerDay = 86_400;

/** What retention needs to know of a commit. */
export interface RetentionCommit {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The parent on the branch the commit was made on; undefined for a root. */
  readonly mainParent: string | undefined;
}

export interface RetentionInput {
  readonly commits: Iterable<RetentionCommit>;
  /** Head commit of every branch (hidden ones too) with the days its history is kept. */
  readonly heads: Iterable<{ readonly commitId: string; readonly retentionDays: number }>;
  /** Commits that stay whatever their age. */
  readonly tagged: Iterable<string>;
  readonly defaultRetentionDays: number;
  /** Unix seconds. */
  readonly now: number;
}

/**
 * The commits whose data must stay: per branch every commit that was its head at or after the threshold, the
 * same for histories that no branch leads to any more, and every tagged commit.
 */
export function findActiveCommits(input: RetentionInput): Set<string> {
  const commits = new Map<string, RetentionCommit>();
  const mainParents = new Set<string>();
  for (const commit of input.commits) {
    commits.set(commit.id, commit);
    if (commit.mainParent !== undefined) mainParents.add(commit.mainParent);
  }
  const daysOfHead = new Map<string, number>();
  for (const head of input.heads) {
    // Several branches may share a head: the longest retention keeps its history.
    daysOfHead.set(head.commitId, Math.max(head.retentionDays, daysOfHead.get(head.commitId) ?? 0));
  }
  const starts = [...daysOfHead.keys()];
  for (const id of commits.keys()) if (!mainParents.has(id) && !daysOfHead.has(id)) starts.push(id);
  starts.sort();

  const active = new Set<string>(input.tagged);
  const walkedWith = new Map<string, number>();
  for (const start of starts) {
    const commit = commits.get(start);
    if (commit === undefined) continue;
    const days = daysOfHead.get(start);
    const threshold = input.now - (days ?? input.defaultRetentionDays) * secondsPerDay;
    // A commit was a head until its successor was made; a head still is one.
    let headUntil = commit.createdAt;
    let next: string | undefined = start;
    if (days !== undefined) {
      active.add(start);
      walkedWith.set(start, threshold);
      next = commit.mainParent;
    }
    while (next !== undefined) {
      const walked = walkedWith.get(next);
      if (walked !== undefined && walked <= threshold) break;
      if (headUntil > threshold) active.add(next);
      walkedWith.set(next, threshold);
      const current = commits.get(next);
      if (current === undefined) break;
      headUntil = current.createdAt;
      next = current.mainParent;
    }
  }
  return active;
}
