import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import { blockedCommit, blockedStagingWrite } from '@svc/encoding';
import { EngineError } from '../errors.ts';
import type { Actor, Forceable, OnBranch } from '../face/model.ts';
import { updateHead } from '../heads/update-head.ts';
import { checkBranchName, required } from '../names/names.ts';
import { checkNotReadOnly, protectedBranch } from '../protection/writable.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { resolveCommitId } from '../refs/resolve-ref.ts';

/** Moves a clean branch's head to another commit. The ref is resolved anew on every try, so `main~` races serialise. */
export async function hardResetBranch(
  context: EngineContext,
  options: OnBranch & Forceable & { readonly ref: string; readonly actor: Actor },
): Promise<void> {
  const { branch, ref } = options;
  checkBranchName(branch);
  if (ref === '') throw required('ref');
  const scope = await context.repositories.open(options.repository);
  await checkMayReset(context, scope, branch, options.force);
  const dirtyMessage = `${branch}: uncommitted changes (dirty branch)`;
  const update = {
    scope,
    branch,
    operation: 'hard-reset',
    actor: options.actor,
    source: ref,
    dirtyMessage,
    byId: true,
  } as const;
  await updateHead(context, update, async () => {
    try {
      const id = await resolveCommitId(context, scope, ref, { headBranch: branch });
      return await context.commits.get(scope, id);
    } catch (error) {
      if (error instanceof EngineError && error.kind === 'not_found') {
        throw notFound('ref', `hard-reset ${branch} to ${ref}: not found`);
      }
      throw error;
    }
  });
}

/** A head may be moved anywhere only where no rule protects the branch. */
export async function checkMayReset(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  force: boolean | undefined,
): Promise<void> {
  for (const action of [blockedStagingWrite, blockedCommit] as const) {
    if (await context.protection.isBlocked(scope, branch, action)) throw protectedBranch('protected branch');
  }
  checkNotReadOnly(scope, force);
}
