import { timestampFromMillis } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { noChanges, within } from '../context/refusals.ts';
import type { Actor, Commit } from '../face/model.ts';
import { updateHead, type HeadUpdate } from '../heads/update-head.ts';
import { CandidateRun, planAfter, type BranchEvent } from '../hooks/run-hooks.ts';
import { mergeTrees } from '../merges/merge-trees.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkCommitSize } from './commit-limits.ts';

/** What lies between two trees, to be made a commit of a branch. */
export interface Change {
  readonly operation: 'cherry-pick' | 'revert';
  readonly scope: RepositoryScope;
  readonly branch: string;
  readonly actor: Actor;
  /** The ref whose change it is. */
  readonly source: string;
  readonly from: string;
  readonly to: string;
  readonly message: string;
  readonly metadata: Record<string, string>;
  /** A commit even when the branch has all of it already. */
  readonly allowEmpty: boolean;
}

/** Applies a change to the head of a branch, as a new commit. */
export async function applyChange(context: EngineContext, change: Change): Promise<Commit> {
  const { operation, scope, branch, actor, message, metadata } = change;
  checkCommitSize(message, metadata);
  const creationDate = timestampFromMillis(context.clock());
  const event: BranchEvent = { scope, actor, sourceRef: branch, branch };
  const run = new CandidateRun(context, scope);
  const update: HeadUpdate = {
    scope,
    branch,
    operation,
    actor,
    source: change.source,
    byId: true,
    hooksAfter: (commit) => planAfter(context, `post-${operation}`, run.eventOf(commit, event)),
  };
  return run.during(() =>
    updateHead(context, update, async (head, turn) => {
      try {
        const onto = await context.commits.get(scope, head.data.commitId);
        const metaRangeId = await mergeTrees(context, scope, {
          base: change.from,
          source: change.to,
          destination: onto.metaRangeId,
          strategy: 'none',
        });
        if (metaRangeId === onto.metaRangeId && !change.allowEmpty) throw noChanges();
        const fields: Omit<Commit, 'id'> = {
          committer: actor.committer,
          message,
          creationDate,
          metaRangeId,
          parents: [onto.id],
          metadata,
          version: 1,
          generation: onto.generation + 1,
        };
        const commit = makeCommit(fields);
        await turn.outside(() =>
          run.about(`pre-${operation}`, commit, {
            ...event,
            commit: fields,
            shown: { metaRangeId: onto.metaRangeId, tokens: head.tokens },
          }),
        );
        return commit;
      } catch (error) {
        throw within('update branch', error);
      }
    }),
  );
}
