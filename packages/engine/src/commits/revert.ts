import { copyStringMap, timestampFromMillis } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RevertOptions } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { updateHead } from '../heads/update-head.ts';
import { runAfter, runBefore, type BranchEvent } from '../hooks/run-hooks.ts';
import { mergeTrees } from '../merges/merge-trees.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkCommitSize } from './commit-limits.ts';

/** Takes back what one commit changed, as a new commit. */
export async function revertCommit(context: EngineContext, options: RevertOptions): Promise<Commit> {
  const { branch, actor, overrides } = options;
  const allowEmpty = options.allowEmpty === true;
  checkBranchName(branch);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  await context.branches.get(scope, branch);
  const reverted = await resolveCommit(context, scope, options.ref, { headBranch: branch });
  const parentTree = await treeOfParent(context, scope, reverted, options.parentNumber ?? 0);
  if (parentTree === reverted.metaRangeId && !allowEmpty) throw within('update branch', noChanges());
  const message =
    overrides?.message === undefined || overrides.message === ''
      ? `Revert ${options.ref}`
      : overrides.message;
  const metadata = copyStringMap(overrides?.metadata ?? {});
  checkCommitSize(message, metadata);
  const creationDate = timestampFromMillis(context.clock());
  const event: BranchEvent = { scope, actor, sourceRef: branch, branch };
  let made: Commit | undefined;
  let preRunId: string | undefined;
  await updateHead(context, { scope, branch, operation: 'revert' }, async (head, turn) => {
    try {
      const onto = await context.commits.get(scope, head.data.commitId);
      const metaRangeId = await mergeTrees(context, scope, {
        base: reverted.metaRangeId,
        source: parentTree,
        destination: onto.metaRangeId,
        strategy: 'none',
      });
      if (metaRangeId === onto.metaRangeId && !allowEmpty) throw noChanges();
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
      const run = await turn.outside(() => runBefore(context, 'pre-revert', { ...event, commit: fields }));
      preRunId = run?.runId;
      made = await context.commits.add(scope, fields);
      return made.id;
    } catch (error) {
      throw within('update branch', error);
    }
  });
  if (made === undefined) throw new Error('a revert ended without a commit');
  runAfter(context, 'post-revert', {
    ...event,
    sourceRef: made.id,
    commitId: made.id,
    commit: made,
    preRunId,
  });
  return made;
}

/** The tree to go back to: the chosen parent's, or the empty one for a root. */
async function treeOfParent(
  context: EngineContext,
  scope: RepositoryScope,
  commit: Commit,
  parentNumber: number,
): Promise<string> {
  if (parentNumber === 0) {
    if (commit.parents.length > 1) {
      throw new EngineError('conflict', 'must specify 1-based parent number for reverting merge commit', {
        subject: 'commit',
      });
    }
    const [only] = commit.parents;
    return only === undefined ? '' : (await context.commits.get(scope, only)).metaRangeId;
  }
  const parent = commit.parents[parentNumber - 1];
  if (parent === undefined) throw outOfRange(parentNumber, commit);
  return (await context.commits.get(scope, parent)).metaRangeId;
}

export function outOfRange(parentNumber: number, commit: Commit): EngineError {
  return invalid(`parent ${parentNumber} of ${commit.parents.length}: commit parent out of range`, 'commit');
}
