import type { TakeCounts } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { MeetingTrees } from './conflict-walk.ts';
import { explainRefusal } from './judge.ts';
import { PathRecords } from './resolutions.ts';
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
          new PathRecords(resolutions.exact),
        );
  if (result.kind === 'merged') return result;
  if (steered.isSteered) throw await explainRefusal(context, scope, trees, strategy, resolutions);
  throw new EngineError('conflict', 'conflict found', { subject: 'object' });
}
