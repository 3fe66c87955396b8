import { Pace } from '../committed/pace.ts';
import type { EngineContext } from '../context/engine-context.ts';
import type { Divergence } from '../face/commits.ts';
import type { InRepository } from '../face/model.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import { commitsByGeneration } from './commits-by-generation.ts';

const maxCounted = 1000;
const maxVisited = 10_000;
/** A commit costs as much as this many records. */
const perCommit = 16;
const leftSide = 1;
const rightSide = 2;
const both = leftSide | rightSide;

/** Counts the commits that only one of two refs reaches, from the newest generation down to where they meet. */
export async function divergence(
  context: EngineContext,
  options: InRepository & { readonly left: string; readonly right: string },
): Promise<Divergence> {
  const scope = await context.repositories.open(options.repository);
  const left = await resolveCommit(context, scope, options.left);
  const right = await resolveCommit(context, scope, options.right);
  if (left.id === right.id) return { left: 0, right: 0 };
  const sides = new Map<string, number>([
    [left.id, leftSide],
    [right.id, rightSide],
  ]);
  const queue = commitsByGeneration(left, right);
  // Commits in the queue that only one side reaches: when there are none left, everything below is shared.
  let alone = 2;
  const counts = { left: 0, right: 0 };
  const pace = new Pace();
  for (let visited = 0; alone > 0 && visited < maxVisited; visited += 1) {
    const commit = queue.pop();
    if (commit === undefined) break;
    if (pace.due(perCommit)) await pace.pause();
    const reachedBy = sides.get(commit.id) ?? both;
    if (reachedBy !== both) alone -= 1;
    if (reachedBy === leftSide) counts.left += 1;
    if (reachedBy === rightSide) counts.right += 1;
    if (counts.left > maxCounted && counts.right > maxCounted) break;
    for (const parentId of commit.parents) {
      const known = sides.get(parentId);
      const now = (known ?? 0) | reachedBy;
      if (now === known) continue;
      sides.set(parentId, now);
      if (known === undefined) {
        queue.push(await context.commits.get(scope, parentId));
        if (now !== both) alone += 1;
      } else alone -= 1;
    }
  }
  return { left: Math.min(counts.left, maxCounted + 1), right: Math.min(counts.right, maxCounted + 1) };
}
