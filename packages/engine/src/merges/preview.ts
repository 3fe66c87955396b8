import { decodeEntry } from '@svc/encoding';
import { noTakes } from '../committed/operations/conflict-policy.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { Conflict, MergePreview, PreviewOptions } from '../face/merges.ts';
import { checkBranchName } from '../names/names.ts';
import { hasUncommittedChanges } from '../staging/uncommitted-changes.ts';
import { conflictAt, lookingMs, walkMerge } from './conflict-walk.ts';
import { ConflictJudge, shownUnresolved } from './judge.ts';
import { meetingOf } from './meeting.ts';
import { checkStands } from './moved.ts';
import { parseSteering } from './steering.ts';

/** What a merge with the same options would do, as far as two seconds of looking go. */
export async function previewMerge(context: EngineContext, options: PreviewOptions): Promise<MergePreview> {
  const { destination, after = '' } = options;
  checkBranchName(destination, 'destination');
  const scope = await context.repositories.open(options.repository);
  const head = await context.branches.get(scope, destination);
  const { strategy, resolutions } = await parseSteering(context, scope, destination, options);
  const trees = await meetingOf(context, scope, options);
  checkStands('source', options.expectedSource, trees.sourceCommitId);
  checkStands('destination', options.expectedDestination, trees.destinationCommitId);
  const judge = new ConflictJudge(strategy, resolutions);
  const totals = { added: noObjects(), changed: noObjects(), removed: noObjects() };
  const conflicts = { ...noTakes(), total: 0, unresolved: 0 };
  const unresolved: Conflict[] = [];
  const end = await walkMerge(context, scope, trees, { after, forMs: lookingMs }, (change) => {
    const { type } = change;
    if (type !== 'conflict') {
      totals[type].objects += 1;
      totals[type].bytes += decodeEntry(change.data).size;
      return true;
    }
    const settled = judge.judge(change);
    conflicts.total += 1;
    conflicts[settled] += 1;
    if (settled === 'unresolved' && unresolved.length < shownUnresolved) unresolved.push(conflictAt(change));
    return true;
  });
  judge.refuseUnfit(after, end.nextOffset);
  let outcome: MergePreview['outcome'] = conflicts.unresolved > 0 ? 'conflicts' : 'clean';
  if (trees.base === trees.source) outcome = 'no_changes';
  else if (await hasUncommittedChanges(context, scope, head.tokens, head.data.commitId)) outcome = 'dirty';
  const { sourceCommitId, destinationCommitId, baseCommitId } = trees;
  return {
    sourceCommitId,
    destinationCommitId,
    baseCommitId,
    outcome,
    ...totals,
    conflicts,
    unresolved,
    ...end,
  };
}

function noObjects(): { objects: number; bytes: number } {
  return { objects: 0, bytes: 0 };
}
