import { copyStringMap } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RevertOptions } from '../face/commits.ts';
import type { Commit } from '../face/model.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { applyChange } from './apply-change.ts';

/** Takes back what one commit changed, as a new commit. */
export async function revertCommit(context: EngineContext, options: RevertOptions): Promise<Commit> {
  const { branch, overrides } = options;
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
  return await applyChange(context, {
    operation: 'revert',
    scope,
    branch,
    actor: options.actor,
    source: options.ref,
    from: reverted.metaRangeId,
    to: parentTree,
    message,
    metadata,
    allowEmpty,
  });
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
