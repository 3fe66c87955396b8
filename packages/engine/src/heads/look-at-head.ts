import type { EngineContext } from '../context/engine-context.ts';
import type { StagedLook } from '../hooks/hook-files.ts';
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
  const guessed = guessTokens(context, scope, branch)?.[0]?.toString();
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

/** Reads a branch, and beside it what hooks want to know of what is staged there. */
export async function lookAtStagedHead(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
): Promise<{ readonly head: BranchHead; readonly staged: StagedLook | undefined }> {
  const look = (tokens: readonly Buffer[]): Promise<StagedLook | undefined> =>
    Promise.resolve(context.hookFiles?.lookAtStaged(tokens));
  const guessed = guessTokens(context, scope, branch);
  const guess = guessed === undefined ? undefined : look(guessed);
  // Nobody waits for it when the branch is gone or has other tokens.
  guess?.catch(() => undefined);
  const head = await context.branches.get(scope, branch);
  const isRight = guessed?.join('/') === head.tokens.join('/');
  return { head, staged: await (isRight && guess !== undefined ? guess : look(head.tokens)) };
}

/** Those of the branch as it was seen last. */
function guessTokens(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
): readonly Buffer[] | undefined {
  // Where a read is a look into memory, there is nothing to gain.
  if (context.kv.valueAtOnce !== undefined) return undefined;
  return context.branches.lastSeen(scope, branch)?.tokens;
}
