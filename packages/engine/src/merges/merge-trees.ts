import type { TakeCounts, TreeRecord } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { MeetingTrees } from './conflict-walk.ts';
import { explainRefusal } from './judge.ts';
import { ListedRecords, pathRecords } from './resolutions.ts';
import type { Steered } from './steering.ts';

export interface MergedTree {
  readonly metaRangeId: string;
  /** Only with resolutions. */
  readonly resolved?: TakeCounts | undefined;
}

/**
 * The tree that results, without reading any when two of the three are the same. `whileStoring` is told a new tree's id
 * before it is stored, unless another thread writes it.
 */
export async function mergeTrees(
  context: EngineContext,
  scope: RepositoryScope,
  trees: MeetingTrees,
  steered: Steered,
  whileStoring?: (metaRangeId: string) => void,
): Promise<MergedTree> {
  const { strategy, resolutions } = steered;
  const { base, source, destination } = trees;
  if (resolutions === undefined) {
    if (destination === base) return { metaRangeId: source };
    if (source === base || source === destination) return { metaRangeId: destination };
  }
  const input = { base, source, destination, strategy };
  const result =
    resolutions === undefined
      ? await context.trees.merge(scope.committed, input, whileStoring)
      : await context.trees.mergeResolved(
          scope.committed,
          { ...input, patterns: resolutions.patterns },
          pathRecords(resolutions.exact),
        );
  if (result.kind === 'merged') return result;
  if (steered.isSteered) throw await explainRefusal(context, scope, trees, strategy, resolutions);
  const conflictAt = result.key.toString();
  throw new EngineError('conflict', 'conflict found', { subject: 'object', facts: { conflictAt } });
}

/** A merged tree with records of its own, which may replace nothing. */
export async function withAdditions(
  context: EngineContext,
  scope: RepositoryScope,
  tree: MergedTree,
  additions: readonly TreeRecord[],
): Promise<MergedTree> {
  if (additions.length === 0) return tree;
  for (const { key } of additions) {
    const held = await context.trees.get(scope.committed, tree.metaRangeId, key);
    if (held !== undefined) throw invalid(`"${key.toString()}" is there already`, 'object');
  }
  const changes = new ListedRecords(additions);
  const { metaRangeId } = await context.trees.apply(scope.committed, tree.metaRangeId, changes);
  return { ...tree, metaRangeId };
}
