import { moveOfTag } from '@svc/encoding';
import { boundCommits } from '../bindings/bound-commits.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { GcRules } from '../face/gc.ts';
import type { Commit } from '../face/model.ts';
import { moveTime } from '../moves/move-id.ts';
import { commitText } from '../moves/move-log.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** One thing that keeps commits: a branch, or all of a kind together. */
export interface KeptBy {
  readonly root: 'branch' | 'tags' | 'reflog' | 'bindings' | 'keeps';
  readonly branch?: string | undefined;
  readonly commitId: string;
  /** How long its history is kept as well; undefined: only this commit. */
  readonly retentionDays?: number | undefined;
}

/**
 * What refs point to, what they pointed to since a run began, and what a deletion or a reset took from them that can
 * still be brought back.
 */
export class KeptRefs {
  readonly heads: { readonly commitId: string; readonly retentionDays: number }[] = [];
  readonly tagged: string[] = [];
  /** All of them once more, by what keeps them. */
  readonly by: KeptBy[] = [];
  readonly #daysOf: ReadonlyMap<string, number>;
  readonly #defaultDays: number;

  constructor(rules: GcRules) {
    this.#daysOf = new Map(rules.branches.map(({ branch, retentionDays }) => [branch, retentionDays]));
    this.#defaultDays = rules.defaultRetentionDays;
  }

  async readRefs(context: EngineContext, scope: RepositoryScope): Promise<void> {
    for await (const { id, commitId } of context.branches.list(scope)) this.#addHead(id, commitId, 'branch');
    for await (const { commitId } of context.tags.list(scope)) this.addCommit(commitId, 'tags');
    for await (const commitId of boundCommits(context, scope)) this.addCommit(commitId, 'bindings');
  }

  /** After the refs: one that moved before it was read has left a record of that. `since` in milliseconds. */
  async readMoves(context: EngineContext, scope: RepositoryScope, since: number): Promise<void> {
    for await (const { id, data } of context.moves.list(scope)) {
      const isYoung = moveTime(id) >= since * 1000;
      if (!isYoung && !data.lossy) continue;
      for (const commitId of [commitText(data.old), isYoung ? commitText(data.new) : undefined]) {
        if (commitId === undefined) continue;
        if (data.refType === moveOfTag) this.addCommit(commitId, 'reflog');
        else this.#addHead(data.refId, commitId, 'reflog');
      }
    }
  }

  /** A commit that stays whatever its age. */
  addCommit(commitId: string, root: KeptBy['root']): void {
    this.tagged.push(commitId);
    this.by.push({ root, commitId });
  }

  #addHead(branch: string, commitId: string, root: 'branch' | 'reflog'): void {
    const retentionDays = this.#daysOf.get(branch) ?? this.#defaultDays;
    this.heads.push({ commitId, retentionDays });
    this.by.push({ root, branch: root === 'branch' ? branch : undefined, commitId, retentionDays });
  }
}

/** Commits of version 0 (old dumps) have their main parent last. */
export function mainParentOf(commit: Commit): string | undefined {
  return commit.version === 0 ? commit.parents.at(-1) : commit.parents[0];
}
