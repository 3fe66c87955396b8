import { copyStringMap, timestampFromMillis } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import type { CherryPickOptions } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { updateHead } from '../heads/update-head.ts';
import { runAfter, runBefore, type BranchEvent } from '../hooks/run-hooks.ts';
import { mergeTrees } from '../merges/merge-trees.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import { checkCommitSize } from './commit-limits.ts';
import { outOfRange } from './revert.ts';

/** Applies what one commit changed to a branch, as a new commit. */
export async function cherryPick(context: EngineContext, options: CherryPickOptions): Promise<Commit> {
  const { branch, actor, overrides } = options;
  checkBranchName(branch);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  await context.branches.get(scope, branch);
  const picked = await resolveCommit(context, scope, options.ref, { headBranch: branch });
  const parent = await context.commits.get(scope, chooseParent(picked, options.parentNumber));
  if (parent.metaRangeId === picked.metaRangeId) throw within('update branch', noChanges());
  const message =
    overrides?.message === undefined || overrides.message === '' ? picked.message : overrides.message;
  // A copy: the picked commit is shared by everyone who reads it.
  const metadata = copyStringMap(overrides?.metadata ?? picked.metadata);
  metadata['cherry-pick-origin'] = picked.id;
  metadata['cherry-pick-committer'] = picked.committer;
  checkCommitSize(message, metadata);
  const creationDate = timestampFromMillis(context.clock());
  const event: BranchEvent = { scope, actor, sourceRef: branch, branch };
  let made: Commit | undefined;
  let preRunId: string | undefined;
  await updateHead(context, { scope, branch, operation: 'cherry-pick' }, async (head, turn) => {
    try {
      const onto = await context.commits.get(scope, head.data.commitId);
      const metaRangeId = await mergeTrees(context, scope, {
        base: parent.metaRangeId,
        source: picked.metaRangeId,
        destination: onto.metaRangeId,
        strategy: 'none',
      });
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
      const run = await turn.outside(() =>
        runBefore(context, 'pre-cherry-pick', { ...event, commit: fields }),
      );
      preRunId = run?.runId;
      made = await context.commits.add(scope, fields);
      return made.id;
    } catch (error) {
      throw within('update branch', error);
    }
  });
  if (made === undefined) throw new Error('a cherry-pick ended without a commit');
  runAfter(context, 'post-cherry-pick', {
    ...event,
    sourceRef: made.id,
    commitId: made.id,
    commit: made,
    preRunId,
  });
  return made;
}

function chooseParent(commit: Commit, parentNumber: number | undefined): string {
  if (parentNumber === undefined && commit.parents.length > 1) {
    throw invalid('must specify 1-based parent number for cherry-picking merge commit', 'commit');
  }
  const parent = commit.parents[(parentNumber ?? 1) - 1];
  if (parent === undefined) throw outOfRange(parentNumber ?? 1, commit);
  return parent;
}
