import { copyStringMap, timestampFromMillis } from '@svc/encoding';
import { checkCommitSize } from '../history/commit-limits.ts';
import type { MergeStrategy } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, noChanges, within } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { MergeBase, MergeOptions, Merges } from '../face/merges.ts';
import type { Commit, InRepository } from '../face/model.ts';
import { updateHead } from '../heads/update-head.ts';
import { hooksAt, planAfter, runBefore, type BranchEvent } from '../hooks/run-hooks.ts';
import { checkBranchName, required } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { isLiving, resolveCommit, resolveCommitted } from '../refs/resolve-ref.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { findMergeBase } from './merge-base.ts';
import { mergeTrees } from './merge-trees.ts';

const strategyKey = '.lakefs.merge.strategy';

export function merges(context: EngineContext): Merges {
  return {
    merge: (options) => mergeIntoBranch(context, options),
    findBase: (options) => findBase(context, options),
  };
}

/** Merges a commit into a clean branch; always makes a new commit. */
export async function mergeIntoBranch(context: EngineContext, options: MergeOptions): Promise<Commit> {
  const { destination, actor } = options;
  const strategy = parseStrategy(options.strategy);
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
  await context.branches.get(scope, destination);
  const target = await resolveCommitted(context, scope, options.source);
  const source = await context.commits.get(scope, target.commitId);
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
  return updateHead(
    context,
    {
      scope,
      branch: destination,
      operation: 'merge',
      actor,
      source: options.source,
      byId: !isLiving(target),
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
        const onto = await context.commits.get(scope, head.data.commitId);
        const base = await requireMergeBase(context, scope, onto, source);
        if (base.metaRangeId === source.metaRangeId && !mayBeEmpty) throw noChanges();
        const commitOf = (metaRangeId: string): Commit =>
          makeCommit({
            committer: actor.committer,
            message,
            creationDate,
            metaRangeId,
            parents: options.squash === true ? [onto.id] : [onto.id, source.id],
            metadata,
            version: 1,
            generation: 1 + Math.max(onto.generation, source.generation),
          });
        let prepared: Commit | undefined;
        const trees = {
          base: base.metaRangeId,
          source: source.metaRangeId,
          destination: onto.metaRangeId,
          strategy,
        };
        const metaRangeId = await mergeTrees(context, scope, trees, (id) => {
          prepared = commitOf(id);
        });
        await context.hookFiles?.noteMade(scope, metaRangeId, [trees.destination, trees.source]);
        const commit = prepared ?? commitOf(metaRangeId);
        if (commit.id !== approved) {
          // Hooks are told the commit's id and may read it.
          if ((await hooksAt(context, scope, source)) !== undefined) {
            const tables = { tree: metaRangeId, base: () => Promise.resolve(onto.metaRangeId) };
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

/** Says which branch could not be updated, where clients expect it. */
function placed(error: unknown, destination: string): unknown {
  if (!(error instanceof EngineError)) return error;
  const named = error.kind === 'conflict' || error.kind === 'no_changes' || error.kind === 'hook_aborted';
  return named ? within(`update branch ${destination}`, error) : error;
}

function parseStrategy(strategy: string | undefined): MergeStrategy {
  if (strategy === undefined || strategy === '') return 'none';
  if (strategy === 'dest-wins' || strategy === 'source-wins') return strategy;
  throw invalid('argument strategy: invalid value: validation error: use dest-wins or source-wins');
}

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

async function findBase(
  context: EngineContext,
  options: InRepository & { readonly source: string; readonly destination: string },
): Promise<MergeBase> {
  const scope = await context.repositories.open(options.repository);
  const source = await resolveCommit(context, scope, options.source);
  const destination = await resolveCommit(context, scope, options.destination);
  const base = await requireMergeBase(context, scope, destination, source);
  return { sourceCommitId: source.id, destinationCommitId: destination.id, baseCommitId: base.id };
}
