import type { Take } from '../committed/tree.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { ConflictPage, ConflictQuery } from '../face/merges.ts';
import type { Commit, InRepository } from '../face/model.ts';
import { resolveCommit } from '../refs/resolve-ref.ts';
import { identityOf, listConflicts } from './conflict-walk.ts';
import { meeting } from './meeting.ts';
import { baseKey, resolvedCounts, sourceKey } from './own-metadata.ts';

/** The conflicts that a commit settled, worked out again from the trees that met. */
export async function resolvedBy(
  context: EngineContext,
  options: InRepository & ConflictQuery & { readonly commit: string },
): Promise<ConflictPage> {
  const scope = await context.repositories.open(options.repository);
  const commit = await resolveCommit(context, scope, options.commit);
  const [parent] = commit.parents;
  if (Object.keys(resolvedCounts(commit)).length === 0 || parent === undefined) {
    throw notFound('commit', 'the commit settled no conflict by a resolution');
  }
  const commitAt = (key: string): Promise<Commit | undefined> => {
    const id = commit.metadata[key] ?? '';
    return id === '' ? Promise.resolve(undefined) : context.commits.get(scope, id);
  };
  const trees = meeting(
    await commitAt(baseKey),
    await commitAt(sourceKey),
    await context.commits.get(scope, parent),
  );
  return listConflicts(context, scope, trees, options, async (conflict, key, sides) => {
    // Looked at before the tree is asked: they are good only until the next step.
    const identities: [Take, Buffer | undefined][] = [
      ['source', identityOf(sides.source)],
      ['destination', identityOf(sides.destination)],
      ['base', identityOf(sides.base)],
      ['delete', undefined],
    ];
    const held = await context.trees.get(scope.committed, commit.metaRangeId, Buffer.from(key));
    const taken = identities.find(([, identity]) =>
      identity === undefined || held === undefined ? identity === held : identity.equals(held.identity),
    );
    return { ...conflict, taken: taken?.[0] ?? 'object' };
  });
}
