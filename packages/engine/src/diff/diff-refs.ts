import type { DiffIterator, TreeRecord } from '../committed/tree.ts';
import { both } from '../context/both.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { DiffPage, DiffPageRequest, DiffRefsOptions } from '../face/refs.ts';
import type { OnBranch } from '../face/model.ts';
import { requireMergeBase } from '../merges/meeting.ts';
import { checkBranchName } from '../names/names.ts';
import { resolveRef, type ResolvedTarget } from '../refs/resolve-ref.ts';
import { sameState } from '../staging/lookup.ts';
import { Overlay } from '../staging/overlay.ts';
import { uncommittedChanges } from '../staging/uncommitted-changes.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { collectDiff, planDiff } from './diff-page.ts';
import { judgeThreeDot, judgeTwoDot, OverlaidDiff, type JudgeKey, type StagedSide } from './overlaid-diff.ts';

const maxRebuilds = 3;
const emptyPage: DiffPage = { items: [], hasMore: false, nextOffset: '' };

/** Differences of two refs; a side written `branch$` counts with its uncommitted changes. */
export async function diffRefs(context: EngineContext, options: DiffRefsOptions): Promise<DiffPage> {
  const type = options.type ?? 'three_dot';
  if (type !== 'two_dot' && type !== 'three_dot') {
    throw invalid(`unknown diff type '${String(type)}': use two_dot or three_dot`);
  }
  const scope = await context.repositories.open(options.repository);
  const [left, right] = await both(
    resolveRef(context, scope, options.left),
    resolveRef(context, scope, options.right),
  );
  const walk = planDiff(options);
  if (walk.start === undefined) return emptyPage;
  const differences =
    type === 'two_dot'
      ? await openTwoDot(context, scope, left, right, walk.start)
      : await openThreeDot(context, scope, left, right, walk.start);
  return collectDiff(differences, walk, options);
}

async function openTwoDot(
  context: EngineContext,
  scope: RepositoryScope,
  left: ResolvedTarget,
  right: ResolvedTarget,
  start: Buffer,
): Promise<DiffIterator> {
  const [{ metaRangeId: leftTree }, { metaRangeId: rightTree }] = await both(
    context.commits.get(scope, left.commitId),
    context.commits.get(scope, right.commitId),
  );
  const trees = context.trees.diff(scope.committed, leftTree, rightTree, start);
  const judge: JudgeKey = async (key, stagedLeft, stagedRight) =>
    judgeTwoDot(
      await recordOf(context, scope, leftTree, key, stagedLeft),
      await recordOf(context, scope, rightTree, key, stagedRight),
    );
  return overlaid(context, trees, left, right, start, judge);
}

async function openThreeDot(
  context: EngineContext,
  scope: RepositoryScope,
  left: ResolvedTarget,
  right: ResolvedTarget,
  start: Buffer,
): Promise<DiffIterator> {
  const [destination, source] = await both(
    context.commits.get(scope, left.commitId),
    context.commits.get(scope, right.commitId),
  );
  const base = await requireMergeBase(context, scope, destination, source);
  const input = {
    base: base.metaRangeId,
    source: source.metaRangeId,
    destination: destination.metaRangeId,
  };
  const trees = context.trees.mergeDiff(scope.committed, input, start);
  const judge: JudgeKey = async (key, stagedLeft, stagedRight) =>
    judgeThreeDot(
      await context.trees.get(scope.committed, input.base, key),
      await recordOf(context, scope, input.source, key, stagedRight),
      await recordOf(context, scope, input.destination, key, stagedLeft),
    );
  return overlaid(context, trees, left, right, start, judge);
}

function overlaid(
  context: EngineContext,
  trees: DiffIterator,
  left: ResolvedTarget,
  right: ResolvedTarget,
  start: Buffer,
  judge: JudgeKey,
): DiffIterator {
  const leftOverlay = explicitOverlay(context, left, start);
  const rightOverlay = explicitOverlay(context, right, start);
  if (leftOverlay === undefined && rightOverlay === undefined) return trees;
  return new OverlaidDiff(trees, leftOverlay, rightOverlay, judge);
}

function explicitOverlay(context: EngineContext, target: ResolvedTarget, start: Buffer): Overlay | undefined {
  if (!target.explicitStaging || target.head === undefined) return undefined;
  return new Overlay(context.kv, target.head.tokens, { from: start });
}

async function recordOf(
  context: EngineContext,
  scope: RepositoryScope,
  tree: string,
  key: Buffer,
  staged: StagedSide,
): Promise<TreeRecord | undefined> {
  if (staged === null) return undefined;
  return staged ?? (await context.trees.get(scope.committed, tree, key));
}

/** Uncommitted changes of a branch that have an effect. */
export async function diffUncommitted(
  context: EngineContext,
  options: OnBranch & DiffPageRequest,
): Promise<DiffPage> {
  checkBranchName(options.branch);
  const scope = await context.repositories.open(options.repository);
  let head = await context.branches.get(scope, options.branch);
  const walk = planDiff(options);
  if (walk.start === undefined) return emptyPage;
  for (let rebuild = 0; ; rebuild += 1) {
    const changes = await uncommittedChanges(context, scope, head.tokens, head.data.commitId, {
      from: walk.start,
      prefix: walk.prefix,
    });
    const page = await collectDiff(changes, walk, options, { removedHasNoSize: true });
    const now = await context.branches.get(scope, options.branch);
    if (rebuild === maxRebuilds || sameState(now, head)) return page;
    head = now;
  }
}
