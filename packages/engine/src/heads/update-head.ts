import { maxTries, pauseBetweenHeadUpdates } from '../context/back-off.ts';
import type { Turn } from '../context/branch-queue.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { dirtyBranch, tooManyAttempts } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import { isTokenEmpty, retireTokens, tokenFor } from '../staging/tokens.ts';
import { hasUncommittedChanges } from '../staging/uncommitted-changes.ts';
import type { BranchSnapshot } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

export interface HeadUpdate {
  readonly scope: RepositoryScope;
  readonly branch: string;
  /** Name in metrics: `merge`, `revert`, … */
  readonly operation: string;
  /** Text of the refusal when the branch has uncommitted changes. */
  readonly dirtyMessage?: string | undefined;
}

/**
 * Moves a branch's head to the commit that `compute` makes, never past uncommitted changes: they refuse the update
 * when they are there before it, and stay staged when they race it. `compute` runs again whenever the branch moved
 * meanwhile; the commit it returns is stored with the move.
 */
export async function updateHead(
  context: EngineContext,
  update: HeadUpdate,
  compute: (head: BranchSnapshot, turn: Turn) => Promise<Commit>,
): Promise<Commit> {
  const { scope, branch } = update;
  return context.queue.run(`${scope.repository.instanceUid}/${branch}`, async (turn) => {
    await sealWithoutChanges(context, update);
    for (let lost = 0; lost < maxTries; lost += 1) {
      if (lost > 0) {
        context.onRetry(update.operation);
        await pauseBetweenHeadUpdates(lost);
      }
      const head = await context.branches.get(scope, branch);
      const sealed = head.tokens.slice(1);
      if (await hasUncommittedChanges(context, scope, sealed, head.data.commitId)) {
        throw dirtyBranch(update.dirtyMessage);
      }
      const commit = await compute(head, turn);
      if (await context.branches.moveHead(scope, head, { ...head.data, sealedTokens: [] }, commit)) {
        await retireTokens(context, head.data.sealedTokens);
        return commit;
      }
    }
    throw tooManyAttempts();
  });
}

/** Refuses a branch with effective changes; entries without effect are sealed so that the update drops them. */
async function sealWithoutChanges(context: EngineContext, update: HeadUpdate): Promise<void> {
  const { scope, branch } = update;
  for (let lost = 0; lost < maxTries; lost += 1) {
    const head = await context.branches.get(scope, branch);
    // Nothing staged, nothing to drop: a write that comes now simply stays staged over the new head.
    const isEmpty = await isTokenEmpty(context, Buffer.from(head.data.stagingToken));
    if (isEmpty && head.data.sealedTokens.length === 0) return;
    if (await hasUncommittedChanges(context, scope, head.tokens, head.data.commitId)) {
      throw dirtyBranch(update.dirtyMessage);
    }
    if (isEmpty) return;
    if (await sealBranch(context, scope, head)) return;
    context.onRetry(update.operation);
  }
  throw tooManyAttempts();
}

/** Puts the current token among the sealed ones and starts a new one; false when the branch moved meanwhile. */
export function sealBranch(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchSnapshot,
): Promise<boolean> {
  return context.branches.replace(scope, head, {
    ...head.data,
    stagingToken: tokenFor(scope, head.data.id),
    sealedTokens: [head.data.stagingToken, ...head.data.sealedTokens],
  });
}
