import type { EngineContext } from '../context/engine-context.ts';
import type { Objects } from '../face/objects.ts';
import { resolveRef } from '../refs/resolve-ref.ts';

/** The first key of each range, taken evenly where there are more ranges than were asked for. */
export async function samplePaths(
  context: EngineContext,
  { repository, ref, amount }: Parameters<Objects['samplePaths']>[0],
): Promise<string[]> {
  const scope = await context.repositories.open(repository);
  const { commitId } = await resolveRef(context, scope, ref);
  const { metaRangeId } = await context.commits.get(scope, commitId);
  // Nothing was ever committed.
  if (metaRangeId === '') return [];
  const ranges = (await context.trees.outline(scope.committed, metaRangeId))?.ranges ?? [];
  const step = Math.max(1, ranges.length / amount);
  const taken = Array.from(
    { length: Math.min(amount, ranges.length) },
    (_, n) => ranges[Math.floor(n * step)],
  );
  return taken.flatMap((range) => range?.minKey.toString() ?? []);
}
