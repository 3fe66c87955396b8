import { copyStringMap } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RevertOptions } from '../face/commits.ts';
import type { ChangeOfCommit } from '../face/merges.ts';
import type { Commit } from '../face/model.ts';
import { refuseOwnKeys } from '../merges/own-metadata.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { applyChange, checkPinned, type FoundChange } from './apply-change.ts';

/** What a revert would apply: the way from the commit back to its parent. */
export async function changeToRevert(context: EngineContext, options: ChangeOfCommit): Promise<FoundChange> {
  const { branch } = options;
  checkBranchName(branch);
  const scope = await context.repositories.open(options.repository);
  const head = await context.branches.get(scope, branch);
  const commit = await resolveCommit(context, scope, options.ref, { headBranch: branch });
  const parent = await parentOf(context, scope, commit, options.parentNumber ?? 0);
  const onto = await context.commits.get(scope, head.data.commitId);
  return { scope, onto, commit, change: { from: commit, to: parent } };
}

/** Takes back what one commit changed, as a new commit. */
export async function revertCommit(context: EngineContext, options: RevertOptions): Promise<Commit> {
  const { branch, overrides } = options;
  const allowEmpty = options.allowEmpty === true;
  checkBranchName(branch);
  refuseOwnKeys(overrides?.metadata);
  checkPinned(options.ref, options);
  checkNotReadOnly(await context.repositories.open(options.repository), options.force);
  const { scope, commit: reverted, change } = await changeToRevert(context, options);
  if ((change.to?.metaRangeId ?? '') === reverted.metaRangeId && !allowEmpty) {
    throw within('update branch', noChanges());
  }
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
    ...change,
    steering: options,
    message,
    metadata,
    allowEmpty,
  });
}

/** What to go back to: the chosen parent; a root has none. */
async function parentOf(
  context: EngineContext,
  scope: RepositoryScope,
  commit: Commit,
  parentNumber: number,
): Promise<Commit | undefined> {
  if (parentNumber === 0) {
    if (commit.parents.length > 1) {
      throw new EngineError('conflict', 'must specify 1-based parent number for reverting merge commit', {
        subject: 'commit',
      });
    }
    const [only] = commit.parents;
    return only === undefined ? undefined : context.commits.get(scope, only);
  }
  const parent = commit.parents[parentNumber - 1];
  if (parent === undefined) throw outOfRange(parentNumber, commit);
  return context.commits.get(scope, parent);
}

export function outOfRange(parentNumber: number, commit: Commit): EngineError {
  return invalid(`parent ${parentNumber} of ${commit.parents.length}: commit parent out of range`, 'commit');
}
