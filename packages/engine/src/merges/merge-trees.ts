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

/** The tree that results, without reading any when two of the three are the same. */
export async function mergeTrees(
  context: EngineContext,
  scope: RepositoryScope,
  input: TreesToMerge,
): Promise<string> {
  if (input.destination === input.base) return input.source;
  if (input.source === input.base || input.source === input.destination) return input.destination;
  const result = await context.trees.merge(scope.committed, input);
  if (result.kind === 'conflict') throw new EngineError('conflict', 'conflict found', { subject: 'object' });
  return result.metaRangeId;
}
