import { copyStringMap, timestampFromMillis } from '@svc/encoding';
import { changeToPick } from '../history/cherry-pick.ts';
import { checkCommitSize } from '../history/commit-limits.ts';
import { changeToRevert } from '../history/revert.ts';
import { both } from '../context/both.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { noChanges, within } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { BetweenRefs, MergeBase, MergeOptions, Merges } from '../face/merges.ts';
import type { Commit } from '../face/model.ts';
import { lookAtHead } from '../heads/look-at-head.ts';
import { updateHead } from '../heads/update-head.ts';
import { hooksAt, planAfter, runBefore, type BranchEvent } from '../hooks/run-hooks.ts';
import { checkBranchName, required } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { isLiving, resolveCommitted, type ResolvedTarget } from '../refs/resolve-ref.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { everyConflict, listConflicts, type MeetingTrees } from './conflict-walk.ts';
import { meeting, meetingOf, requireMergeBase } from './meeting.ts';
import { type MergedTree, mergeTrees, withAdditions } from './merge-trees.ts';
import { checkStands } from './moved.ts';
import { refuseOwnKeys, resolvedMetadata } from './own-metadata.ts';
import { previewMerge } from './preview.ts';
import { parseAdditions } from './resolutions.ts';
import { resolvedBy } from './resolved-by.ts';
import { parseSteering, parseStrategy } from './steering.ts';

const strategyKey = '.lakefs.merge.strategy';

export function merges(context: EngineContext): Merges {
  return {
    merge: (options) => mergeIntoBranch(context, options),
    findBase: (options) => findBase(context, options),
    conflicts: async (options) => {
      const { scope, trees } = await meetingAt(context, options);
      return listConflicts(context, scope, trees, options);
    },
    everyConflict: async (options) => {
      const { scope, trees } = await meetingAt(context, options);
      return everyConflict(context, scope, trees, options);
    },
    preview: (options) => previewMerge(context, options),
    cherryPickConflicts: async (options) => {
      const { scope, onto, change } = await changeToPick(context, options);
      return listConflicts(context, scope, meeting(change.from, change.to, onto), options);
    },
    revertConflicts: async (options) => {
      const { scope, onto, change } = await changeToRevert(context, options);
      return listConflicts(context, scope, meeting(change.from, change.to, onto), options);
    },
    resolvedBy: (options) => resolvedBy(context, options),
  };
}

/** Merges a commit into a clean branch; always makes a new commit. */
export async function mergeIntoBranch(context: EngineContext, options: MergeOptions): Promise<Commit> {
  const { destination, actor } = options;
  const strategy = parseStrategy(options.strategy);
  refuseOwnKeys(options.metadata);
  checkBranchName(destination, 'destination');
  if (options.source === '') throw required('source');
  const message =
    options.message === undefined || options.message === ''
      ? `Merge '${options.source}' into '${destination}'`
      : options.message;
  const metadata = copyStringMap(options.metadata ?? {});
  metadata[strategyKey] = strategy === 'none' ? 'default' : strategy;
  checkCommitSize(message, metadata);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  // That the destination is missing is told first.
  const [seen, { target, source }] = await both(
    lookAtHead(context, scope, destination),
    findSource(context, scope, options.source),
  );
  checkStands('source', options.expectedSource, source.id);
  Object.assign(metadata, options.ownMetadata?.(source.id));
  const steered = await parseSteering(context, scope, destination, options);
  const additions = await parseAdditions(context, scope, destination, options.additions ?? []);
  const mayBeEmpty = options.allowEmpty === true || options.force === true;
  const creationDate = timestampFromMillis(context.clock());
  const event: BranchEvent = {
    scope,
    actor,
    sourceRef: source.id,
    branch: destination,
    mergeSource: options.source,
  };
  let approved: string | undefined;
  let preRunId: string | undefined;
  let takesFromBase = false;
  return updateHead(
    context,
    {
      scope,
      branch: destination,
      operation: 'merge',
      actor,
      source: options.source,
      seen,
      byId: () => takesFromBase || !isLiving(target),
      hooksAfter: (commit) =>
        planAfter(context, 'post-merge', {
          ...event,
          sourceRef: commit.id,
          commitId: commit.id,
          commit,
          preRunId,
          shown: commit,
        }),
    },
    async (head, turn, entered) => {
      try {
        checkStands('destination', options.expectedDestination, head.data.commitId);
        const onto = await context.commits.get(scope, head.data.commitId);
        const base = await requireMergeBase(context, scope, onto, source);
        if (base.metaRangeId === source.metaRangeId && !mayBeEmpty) throw noChanges();
        const trees = meeting(base, source, onto);
        const commitOf = ({ metaRangeId, resolved }: MergedTree): Commit =>
          makeCommit({
            committer: actor.committer,
            message,
            creationDate,
            metaRangeId,
            parents: options.squash === true ? [onto.id] : [onto.id, source.id],
            metadata:
              resolved === undefined ? metadata : { ...metadata, ...resolvedMetadata(trees, resolved) },
            version: 1,
            generation: 1 + Math.max(onto.generation, source.generation),
          });
        let prepared: Commit | undefined;
        const merged = await mergeTrees(context, scope, trees, steered, (id) => {
          if (additions.length === 0) prepared = commitOf({ metaRangeId: id });
        });
        const tree = await withAdditions(context, scope, merged, additions);
        const { metaRangeId } = tree;
        takesFromBase = (tree.resolved?.base ?? 0) > 0;
        await context.hookFiles?.noteMade(scope, metaRangeId, [trees.destination, trees.source]);
        const commit = prepared ?? commitOf(tree);
        if (commit.id !== approved) {
          // Hooks are told the commit's id and may read it.
          if ((await hooksAt(context, scope, source)) !== undefined) {
            const base = (): Promise<string> => Promise.resolve(onto.metaRangeId);
            const tables = { tree: metaRangeId, commitId: commit.id, base };
            await context.gate.moveHead(scope, entered, tables, (still) =>
              context.commits.add(scope, commit, still),
            );
          }
          const run = await turn.outside(() =>
            runBefore(context, 'pre-merge', { ...event, commitId: commit.id, commit, shown: source }),
          );
          preRunId = run?.runId;
        }
        approved = commit.id;
        return commit;
      } catch (error) {
        throw placed(error, destination);
      }
    },
  );
}

async function findSource(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
): Promise<{ target: ResolvedTarget; source: Commit }> {
  const target = await resolveCommitted(context, scope, ref);
  return { target, source: await context.commits.get(scope, target.commitId) };
}

/** Says which branch could not be updated, where clients expect it. */
function placed(error: unknown, destination: string): unknown {
  if (!(error instanceof EngineError)) return error;
  const named = error.kind === 'conflict' || error.kind === 'no_changes' || error.kind === 'hook_aborted';
  return named ? within(`update branch ${destination}`, error) : error;
}

async function meetingAt(
  context: EngineContext,
  options: BetweenRefs,
): Promise<{ scope: RepositoryScope; trees: MeetingTrees }> {
  checkBranchName(options.destination, 'destination');
  const scope = await context.repositories.open(options.repository);
  return { scope, trees: await meetingOf(context, scope, options) };
}

async function findBase(context: EngineContext, options: BetweenRefs): Promise<MergeBase> {
  const scope = await context.repositories.open(options.repository);
  const { sourceCommitId, destinationCommitId, baseCommitId } = await meetingOf(context, scope, options);
  return { sourceCommitId, destinationCommitId, baseCommitId };
}
