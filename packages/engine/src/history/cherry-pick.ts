import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import type { CherryPickOptions } from '../face/commits.ts';
import type { ChangeOfCommit } from '../face/merges.ts';
import type { Commit } from '../face/model.ts';
import { refuseOwnKeys, withoutOwnKeys } from '../merges/own-metadata.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import { applyChange, checkPinned, type FoundChange } from './apply-change.ts';
import { outOfRange } from './revert.ts';

/** What a cherry-pick would apply. */
export async function changeToPick(context: EngineContext, options: ChangeOfCommit): Promise<FoundChange> {
  const { branch } = options;
  checkBranchName(branch);
  const scope = await context.repositories.open(options.repository);
  const head = await context.branches.get(scope, branch);
  const commit = await resolveCommit(context, scope, options.ref, { headBranch: branch });
  const parent = await context.commits.get(scope, chooseParent(commit, options.parentNumber));
  const onto = await context.commits.get(scope, head.data.commitId);
  return { scope, onto, commit, change: { from: parent, to: commit } };
}

/** Applies what one commit changed to a branch, as a new commit. */
export async function cherryPick(context: EngineContext, options: CherryPickOptions): Promise<Commit> {
  const { branch, overrides } = options;
  checkBranchName(branch);
  refuseOwnKeys(overrides?.metadata);
  checkPinned(options.ref, options);
  checkNotReadOnly(await context.repositories.open(options.repository), options.force);
  const { scope, commit: picked, change } = await changeToPick(context, options);
  if (change.from?.metaRangeId === picked.metaRangeId) throw within('update branch', noChanges());
  const message =
    overrides?.message === undefined || overrides.message === '' ? picked.message : overrides.message;
  // A copy: the picked commit is shared by everyone who reads it.
  const metadata = withoutOwnKeys(overrides?.metadata ?? picked.metadata);
  metadata['cherry-pick-origin'] = picked.id;
  metadata['cherry-pick-committer'] = picked.committer;
  return await applyChange(context, {
    operation: 'cherry-pick',
    scope,
    branch,
    actor: options.actor,
    source: options.ref,
    ...change,
    steering: options,
    message,
    metadata,
    allowEmpty: true,
  });
}

function chooseParent(commit: Commit, parentNumber: number | undefined): string {
  if (parentNumber === undefined && commit.parents.length > 1) {
    throw invalid('must specify 1-based parent number for cherry-picking merge commit', 'commit');
  }
  const parent = commit.parents[(parentNumber ?? 1) - 1];
  if (parent === undefined) throw outOfRange(parentNumber ?? 1, commit);
  return parent;
}
