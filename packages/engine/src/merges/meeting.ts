import { both } from '../context/both.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { BetweenRefs } from '../face/merges.ts';
import type { Commit } from '../face/model.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { MeetingTrees } from './conflict-walk.ts';
import { findMergeBase } from './merge-base.ts';

export async function requireMergeBase(
  context: EngineContext,
  scope: RepositoryScope,
  left: Commit,
  right: Commit,
): Promise<Commit> {
  const base = await findMergeBase(context, scope, left, right);
  if (base === undefined) throw invalid('no merge base', 'commit');
  return base;
}

/** What meets when one ref is merged into another. */
export async function meetingOf(
  context: EngineContext,
  scope: RepositoryScope,
  refs: Omit<BetweenRefs, 'repository'>,
): Promise<MeetingTrees> {
  const [source, destination] = await both(
    resolveCommit(context, scope, refs.source),
    resolveCommit(context, scope, refs.destination),
  );
  return meeting(await requireMergeBase(context, scope, destination, source), source, destination);
}

/** Without a commit, a side is the empty tree. */
export function meeting(
  base: Commit | undefined,
  source: Commit | undefined,
  destination: Commit,
): MeetingTrees {
  return {
    base: base?.metaRangeId ?? '',
    source: source?.metaRangeId ?? '',
    destination: destination.metaRangeId,
    baseCommitId: base?.id ?? '',
    sourceCommitId: source?.id ?? '',
    destinationCommitId: destination.id,
  };
}
