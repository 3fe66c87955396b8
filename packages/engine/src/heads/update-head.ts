import type { Turn } from '../context/branch-queue.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { dirtyBranch } from '../context/refusals.ts';
import type { MoveKind } from '@svc/encoding';
import type { Actor, Commit } from '../face/model.ts';
import type { Entered } from '../gc/gate.ts';
import { hasUncommittedChanges } from '../staging/uncommitted-changes.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { SeenHead } from './look-at-head.ts';
import { sealAndMove, type HeadMove } from './seal-and-move.ts';

export interface HeadUpdate {
  readonly scope: RepositoryScope;
  readonly branch: string;
  readonly operation: MoveKind;
  readonly actor: Actor;
  readonly source?: string | undefined;
  readonly lossy?: boolean | undefined;
  readonly onMoved?: HeadMove['onMoved'];
  readonly byId?: HeadMove['byId'];
  readonly entered?: HeadMove['entered'];
  /** The branch as the operation has just seen it. */
  readonly seen?: SeenHead | undefined;
  readonly hooksAfter?: HeadMove['hooksAfter'];
  /** Text of the refusal when the branch has uncommitted changes. */
  readonly dirtyMessage?: string | undefined;
}

/**
 * Moves a branch's head to the commit that `compute` makes, never past uncommitted changes: they refuse the update
 * when they are there before it, and stay staged when they race it. Staged entries without effect are dropped.
 * `compute` runs again whenever the branch moved meanwhile.
 */
export function updateHead(
  context: EngineContext,
  update: HeadUpdate,
  compute: (head: BranchHead, turn: Turn, entered: Entered) => Promise<Commit>,
): Promise<Commit> {
  const refuseChanges = async (head: BranchHead, tokens: readonly Buffer[]): Promise<void> => {
    if (await hasUncommittedChanges(context, update.scope, tokens, head.data.commitId)) {
      throw dirtyBranch(update.dirtyMessage);
    }
  };
  const { seen, ...move } = update;
  const token = seen?.head.data.stagingToken;
  return sealAndMove(context, {
    ...move,
    head: seen?.head,
    cleanToken: seen?.isClean === true ? token : undefined,
    dirtyToken: seen?.isClean === false ? token : undefined,
    beforeSeal: (head) => refuseChanges(head, head.tokens),
    makeCommit: async (head, turn, _lost, entered) => {
      await refuseChanges(head, head.tokens.slice(1));
      return compute(head, turn, entered);
    },
  });
}
