import { copyStringMap, timestampFromMillis } from '@svc/encoding';
import { checkMayReset } from '../branches/hard-reset.ts';
import type { Turn } from '../context/branch-queue.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, notFound } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import type { RollbackOptions, RolledBack } from '../face/reflog.ts';
import { updateHead } from '../heads/update-head.ts';
import { checkCommitSize } from '../history/commit-limits.ts';
import { CandidateRun, planAfter, type BranchEvent } from '../hooks/run-hooks.ts';
import { checkBranchName, required } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { BranchHead } from '../store/branch-store.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { findShownMove, typeOf } from './list-moves.ts';
import { moveIdText, parseMoveId } from './move-id.ts';
import { commitText } from './move-log.ts';
import { checkTreeExists } from './undelete.ts';

/** Takes a clean branch back to where it stood: by a new commit with that tree, or by moving its head. */
export async function rollback(context: EngineContext, options: RollbackOptions): Promise<RolledBack> {
  const { branch, to, mode, actor } = options;
  checkBranchName(branch);
  if (to === '') throw required('to');
  const message =
    options.message === undefined || options.message === '' ? `Roll back to ${to}` : options.message;
  const metadata = copyStringMap(options.metadata ?? {});
  checkCommitSize(message, metadata);
  const scope = await context.repositories.open(options.repository);
  if (mode === 'reset') await checkMayReset(context, scope, branch, options.force);
  else checkNotReadOnly(scope, options.force);
  const event: BranchEvent = { scope, actor, sourceRef: branch, branch };
  const run = new CandidateRun(context, scope);
  let rolledBack: RolledBack | undefined;
  const update = {
    scope,
    branch,
    operation: 'rollback',
    actor,
    source: to,
    lossy: mode === 'reset',
    byId: true,
    dirtyMessage: `${branch}: uncommitted changes (dirty branch)`,
    onMoved: (previousCommitId: string, commitId: string, move: Buffer): void => {
      rolledBack = { commitId, previousCommitId, moveId: moveIdText(move) };
    },
    hooksAfter:
      mode === 'commit'
        ? (commit: Commit) => planAfter(context, 'post-revert', run.eventOf(commit, event))
        : undefined,
  } as const;
  const compute = async (head: BranchHead, turn: Turn): Promise<Commit> => {
    const target = await findTarget(context, scope, options);
    await checkTreeExists(context, scope, target.id);
    const onto = await context.commits.get(scope, head.data.commitId);
    if (mode === 'reset') {
      if (target.id === onto.id) throw noChanges();
      return target;
    }
    if (target.metaRangeId === onto.metaRangeId) throw noChanges();
    const fields: Omit<Commit, 'id'> = {
      committer: actor.committer,
      message,
      creationDate: timestampFromMillis(context.clock()),
      metaRangeId: target.metaRangeId,
      parents: [onto.id],
      metadata,
      version: 1,
      generation: onto.generation + 1,
    };
    const shown = { metaRangeId: onto.metaRangeId, tokens: head.tokens };
    const commit = makeCommit(fields);
    await turn.outside(() => run.about('pre-revert', commit, { ...event, commit: fields, shown }));
    return commit;
  };
  await run.during(() => updateHead(context, update, compute));
  if (rolledBack === undefined) throw noChanges();
  return rolledBack;
}

async function findTarget(
  context: EngineContext,
  scope: RepositoryScope,
  { branch, to }: RollbackOptions,
): Promise<Commit> {
  const id = parseMoveId(to);
  const move = id === undefined ? undefined : await findShownMove(context, scope, id);
  if (move === undefined) return resolveCommit(context, scope, to, { headBranch: branch });
  if (typeOf(move) !== 'branch' || move.refId !== branch) {
    throw invalid(`to: move ${to} is of ${typeOf(move)} ${move.refId}, not of ${branch}`, 'ref');
  }
  const commitId = commitText(move.old);
  if (commitId === undefined) throw notFound('ref', `branch ${branch} did not exist before move ${to}`);
  return context.commits.get(scope, commitId);
}
