import { pullMerged, pullOpen, timestampFromMillis, type PullRequestData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Merges } from '../face/merges.ts';
import type { Actor, Commit, Forceable } from '../face/model.ts';
import type { InPull } from '../face/pulls.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { changePull, readPull } from './pull-store.ts';

/** How far back on the destination an earlier merge of the same pull request is looked for. */
const searchedCommits = 1000;

/** Merges source into destination, then marks the pull request merged. */
export async function mergePull(
  context: EngineContext,
  merges: Merges,
  options: InPull & Forceable & { readonly actor: Actor },
): Promise<Commit> {
  const scope = await context.repositories.open(options.repository);
  const pull = await readPull(context, scope, options.id);
  if (pull.status !== pullOpen) throw badStatus();
  const commit = await mergeOrFindMerged(context, merges, scope, pull, options);
  await changePull(context, scope, options.id, (data) => ({
    ...data,
    status: pullMerged,
    commitId: commit.id,
    closedAt: timestampFromMillis(context.clock()),
  }));
  return commit;
}

/**
 * When an earlier call merged but could not record it, the merge finds no changes; the commit it made then
 * completes the pull request instead of failing it for ever.
 */
async function mergeOrFindMerged(
  context: EngineContext,
  merges: Merges,
  scope: RepositoryScope,
  pull: PullRequestData,
  options: InPull & Forceable & { readonly actor: Actor },
): Promise<Commit> {
  try {
    return await merges.merge({
      repository: options.repository,
      source: pull.sourceBranch,
      destination: pull.destinationBranch,
      actor: options.actor,
    });
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind !== 'no_changes') throw error;
    const merged = await findMergeCommit(context, scope, pull);
    if (merged === undefined) throw error;
    return merged;
  }
}

async function findMergeCommit(
  context: EngineContext,
  scope: RepositoryScope,
  pull: PullRequestData,
): Promise<Commit | undefined> {
  const source = await context.branches.get(scope, pull.sourceBranch);
  const destination = await context.branches.get(scope, pull.destinationBranch);
  let id: string | undefined = destination.data.commitId;
  for (let walked = 0; id !== undefined && walked < searchedCommits; walked += 1) {
    const commit: Commit = await context.commits.get(scope, id);
    const madeSince = commit.creationDate.seconds >= pull.createdAt.seconds;
    if (!madeSince) return undefined;
    if (commit.parents.length > 1 && commit.parents[1] === source.data.commitId) return commit;
    id = commit.parents[0];
  }
  return undefined;
}

function badStatus(): EngineError {
  return invalid('bad pull request status', 'pull_request');
}
