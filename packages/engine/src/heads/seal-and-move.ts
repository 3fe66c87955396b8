import { maxTries, pauseBetweenHeadUpdates } from '../context/back-off.ts';
import type { Turn } from '../context/branch-queue.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { tooManyAttempts } from '../context/refusals.ts';
import type { MoveKind } from '@svc/encoding';
import type { Actor, Commit } from '../face/model.ts';
import type { Entered, TreeMove } from '../gc/gate.ts';
import { noHooksAfter, type HooksAfter } from '../hooks/run-hooks.ts';
import type { RefMove } from '../moves/move-log.ts';
import { foldSealedTokensLater } from '../staging/fold-tokens.ts';
import { isTokenEmpty, retireTokens, tokenFor } from '../staging/tokens.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

export interface HeadMove {
  readonly scope: RepositoryScope;
  readonly branch: string;
  /** Kind in the log of moves, name in metrics. */
  readonly operation: MoveKind;
  readonly actor: Actor;
  /** What the caller named, for the log of moves. */
  readonly source?: string | undefined;
  readonly lossy?: boolean | undefined;
  /** Told where the head stood, where it stands now, and the id of the move. */
  readonly onMoved?: ((from: string, to: string, move: Buffer) => void) | undefined;
  /** The commit is one that no living ref shows, or takes from such a one; an answer when it is known later. */
  readonly byId?: boolean | (() => boolean) | undefined;
  /** Where the collector's gate was entered before tables were written that the commit's tree reuses. */
  readonly entered?: { readonly state: Entered } | undefined;
  /** The tree that becomes the commit's as it is. */
  readonly adopted?: string | undefined;
  /** The branch as the operation has just read it: spares reading it once more, unless others had their turn since. */
  readonly head?: BranchHead | undefined;
  /** A staging token known to hold something: nobody has to look again. */
  readonly dirtyToken?: string | undefined;
  /** One known to hold nothing since the operation began. */
  readonly cleanToken?: string | undefined;
  /** Looks at a branch that has something staged, and throws to leave it as it is. */
  readonly beforeSeal?: ((head: BranchHead) => Promise<void>) | undefined;
  /**
   * Makes the commit the head moves to; it is stored with the move. Runs again whenever the branch moved meanwhile,
   * `lost` times so far.
   */
  readonly makeCommit: (head: BranchHead, turn: Turn, lost: number, entered: Entered) => Promise<Commit>;
  /** The hooks to be run once the head stands at the commit; they are put on record with the move. */
  readonly hooksAfter?: ((commit: Commit) => Promise<HooksAfter>) | undefined;
}

/** Seals what is staged, makes a commit and moves the head to it; the move drops the sealed tokens. */
export function sealAndMove(context: EngineContext, move: HeadMove): Promise<Commit> {
  const { scope, branch } = move;
  return context.queue.run(`${scope.repository.instanceUid}/${branch}`, async (turn) => {
    const known = await seal(
      context,
      turn.hasWaited ? { ...move, head: undefined, cleanToken: undefined } : move,
    );
    for (let lost = 0; lost < maxTries; lost += 1) {
      if (lost > 0) {
        context.onRetry(move.operation);
        await pauseBetweenHeadUpdates(lost);
      }
      // Before the tables are written: what was collected since then may concern them.
      const entered = await enterGate(context, move);
      const head = (lost === 0 ? known : undefined) ?? (await context.branches.get(scope, branch));
      const commit = await move.makeCommit(head, turn, lost, entered);
      if (await moveTo(context, move, head, commit, entered)) {
        const byId = typeof move.byId === 'function' ? move.byId() : move.byId;
        if (byId === true) await context.gate.commitById(scope, commit);
        // A move that is recorded names the tokens it dropped, and whoever reads it retires them: nobody waits for that.
        if (commit.id === head.data.commitId) await retireTokens(context, head.data.sealedTokens);
        return commit;
      }
    }
    throw tooManyAttempts();
  });
}

function enterGate(context: EngineContext, { scope, entered, adopted }: HeadMove): Promise<Entered> {
  if (entered !== undefined) return Promise.resolve(entered.state);
  return adopted === undefined ? context.gate.enter(scope) : context.gate.adopt(scope, adopted);
}

async function moveTo(
  context: EngineContext,
  { scope, branch, operation, actor, source, lossy, onMoved, adopted, hooksAfter }: HeadMove,
  head: BranchHead,
  commit: Commit,
  entered: Entered,
): Promise<boolean> {
  const next = { ...head.data, sealedTokens: [] };
  // A reset to where the branch stands moves nothing.
  if (commit.id === head.data.commitId) return context.branches.replace(scope, head, next);
  const after = (await hooksAfter?.(commit)) ?? noHooksAfter;
  const refMove: RefMove = {
    kind: operation,
    type: 'branch',
    id: branch,
    from: head.data.commitId,
    to: commit.id,
    actor,
    source,
    hidden: head.data.hidden,
    retiredTokens: head.data.sealedTokens,
    lossy,
    more: after.writes,
  };
  const planned = await context.moves.plan(scope, refMove, head.data.lastMove);
  const tables: TreeMove = {
    tree: commit.metaRangeId,
    commitId: commit.id,
    base: async () => (await context.commits.get(scope, head.data.commitId)).metaRangeId,
    adopted: adopted !== undefined,
  };
  const moved = await context.gate.moveHead(scope, entered, tables, (still) =>
    context.branches.moveHead(scope, head, next, commit, planned, still),
  );
  if (!moved) return false;
  context.commits.remember(scope, commit);
  onMoved?.(head.data.commitId, commit.id, planned.id);
  await after.happened();
  return true;
}

/**
 * Later writes go to a new token. With nothing staged the token stays, and later writes stay staged over the new head.
 * Answers the branch as it is then, where that is known: the move will not find it changed unless somebody else changes it.
 */
async function seal(
  context: EngineContext,
  { scope, branch, operation, beforeSeal, head: known, dirtyToken, cleanToken }: HeadMove,
): Promise<BranchHead | undefined> {
  for (let lost = 0; lost < maxTries; lost += 1) {
    const head = (lost === 0 ? known : undefined) ?? (await context.branches.get(scope, branch));
    const { stagingToken, sealedTokens } = head.data;
    const isEmpty =
      stagingToken === cleanToken ||
      (stagingToken !== dirtyToken && (await isTokenEmpty(context, Buffer.from(stagingToken))));
    if (isEmpty && sealedTokens.length === 0) return head;
    await beforeSeal?.(head);
    if (isEmpty) return head;
    const sealed = [stagingToken, ...sealedTokens];
    const next = { ...head.data, stagingToken: tokenFor(scope, branch), sealedTokens: sealed };
    const replaced = await context.branches.exchange(scope, head, next);
    if (replaced !== undefined) {
      foldSealedTokensLater(context, scope, branch, sealed.length);
      return replaced.head;
    }
    context.onRetry(operation);
  }
  throw tooManyAttempts();
}
