import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { HookRun } from '../face/hooks.ts';
import type { Actor, Forceable, OnBranch } from '../face/model.ts';
import { planAfter, runBefore, type ShownEvent } from '../hooks/run-hooks.ts';
import type { RefMove } from '../moves/move-log.ts';
import { checkBranchName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { endUploadsOf } from '../uploads/end-upload.ts';

/** Deletes a branch with its uncommitted changes; its commits stay reachable by id, tag or child branches. */
export async function deleteBranch(
  context: EngineContext,
  options: OnBranch & Forceable & { readonly actor: Actor },
): Promise<void> {
  checkBranchName(options.branch);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  if (options.branch === scope.repository.defaultBranch) {
    throw new EngineError('forbidden', 'cannot delete repository default branch', { subject: 'branch' });
  }
  let run: HookRun | undefined;
  let askedFor: string | undefined;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const head = await context.branches.get(scope, options.branch);
    const event: ShownEvent = {
      scope,
      actor: options.actor,
      sourceRef: head.data.commitId,
      branch: options.branch,
      shown: { commitId: head.data.commitId },
    };
    if (askedFor !== head.data.commitId) {
      run = await askHooks(context, event, options.force === true);
      askedFor = head.data.commitId;
    }
    const retiredTokens = [head.data.stagingToken, ...head.data.sealedTokens];
    const after = await planAfter(context, 'post-delete-branch', { ...event, preRunId: run?.runId });
    const move: RefMove = {
      kind: 'delete',
      type: 'branch',
      id: options.branch,
      from: head.data.commitId,
      actor: options.actor,
      hidden: head.data.hidden,
      retiredTokens,
      more: after.writes,
    };
    const planned = await context.moves.planDeletion(scope, move, head.data.lastMove);
    // Only the record that was read: a branch re-created meanwhile is another branch.
    if (await context.branches.remove(scope, head, planned)) {
      await after.happened();
      await endUploadsOf(context, scope, options.branch);
      return;
    }
    context.onRetry('delete-branch');
  }
  throw tooManyAttempts();
}

async function askHooks(
  context: EngineContext,
  event: ShownEvent,
  force: boolean,
): Promise<HookRun | undefined> {
  try {
    return await runBefore(context, 'pre-delete-branch', event);
  } catch (error) {
    // A branch whose tree cannot be read must stay deletable.
    if (force && context.hooks?.isUnreadable?.(error) === true) return undefined;
    throw error;
  }
}
