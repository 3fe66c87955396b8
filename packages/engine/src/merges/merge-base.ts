import type { EngineContext } from '../context/engine-context.ts';
import type { Commit } from '../face/model.ts';
import { commitsByGeneration } from '../history/commits-by-generation.ts';
import type { RepositoryScope } from '../store/scope.ts';

const leftSide = 1;
const rightSide = 2;

/** A best common ancestor of two commits, or undefined when their histories never meet. */
export async function findMergeBase(
  context: EngineContext,
  scope: RepositoryScope,
  left: Commit,
  right: Commit,
): Promise<Commit | undefined> {
  if (left.id === right.id) return left;
  const reached = new Map<string, number>([
    [left.id, leftSide],
    [right.id, rightSide],
  ]);
  const queue = commitsByGeneration(left, right);
  for (let commit = queue.pop(); commit !== undefined; commit = queue.pop()) {
    const sides = reached.get(commit.id) ?? 0;
    for (const parentId of commit.parents) {
      const known = reached.get(parentId);
      reached.set(parentId, (known ?? 0) | sides);
      if (((known ?? 0) | sides) === (leftSide | rightSide)) return context.commits.get(scope, parentId);
      if (known === undefined) queue.push(await context.commits.get(scope, parentId));
    }
  }
  return undefined;
}
