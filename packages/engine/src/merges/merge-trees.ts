import type { MergeStrategy } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { RepositoryScope } from '../store/scope.ts';

export interface TreesToMerge {
  readonly base: string;
  readonly source: string;
  readonly destination: string;
  readonly strategy: MergeStrategy;
}

/**
 * The tree that results, without reading any when two of the three are the same. `whileStoring` is told a new tree's id
 * before it is stored, unless another thread writes it.
 */
export async function mergeTrees(
  context: EngineContext,
  scope: RepositoryScope,
  input: TreesToMerge,
  whileStoring?: (metaRangeId: string) => void,
): Promise<string> {
  if (input.destination === input.base) return input.source;
  if (input.source === input.base || input.source === input.destination) return input.destination;
  const result = await context.trees.merge(scope.committed, input, whileStoring);
  if (result.kind !== 'merged') throw new EngineError('conflict', 'conflict found', { subject: 'object' });
  return result.metaRangeId;
}
