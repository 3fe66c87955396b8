import type { EngineContext } from '../context/engine-context.ts';
import { isTokenEmpty } from '../staging/tokens.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** A branch as it is about to be moved. */
export interface SeenHead {
  readonly head: BranchHead;
  /** Nothing was staged under its token. */
  readonly isClean: boolean;
}

/**
 * Reads a branch and whether something is staged on it, and brings into memory what moving it will need. A branch keeps
 * its token until something is staged, so most often the one seen last can be looked at without waiting for the branch.
 */
export async function lookAtHead(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
): Promise<SeenHead> {
  const guessed = guessToken(context, scope, branch);
  const guess = guessed === undefined ? undefined : isTokenEmpty(context, Buffer.from(guessed));
  // Nobody waits for it when the branch is gone or has another token.
  guess?.catch(() => undefined);
  const head = await context.branches.get(scope, branch);
  foreseeMove(context, scope, head);
  const { stagingToken } = head.data;
  const isClean = await (stagingToken === guessed && guess !== undefined
    ? guess
    : isTokenEmpty(context, Buffer.from(stagingToken)));
  return { head, isClean };
}

/** Brings into memory what moving the head will need. */
export function foreseeMove(context: EngineContext, scope: RepositoryScope, { data }: BranchHead): void {
  context.moves.foresee(scope, data.lastMove);
  // Whoever needs the commit asks again and sees the failure.
  context.commits.find(scope, data.commitId).catch(() => undefined);
}

function guessToken(context: EngineContext, scope: RepositoryScope, branch: string): string | undefined {
  // Where a read is a look into memory, there is nothing to gain.
  if (context.kv.valueAtOnce !== undefined) return undefined;
  return context.branches.lastSeen(scope, branch)?.data.stagingToken;
}
