import { pullMerged, pullOpen, timestampFromMillis, type PullRequestData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Merges } from '../face/merges.ts';
import type { Commit } from '../face/model.ts';
import type { MergePullOptions } from '../face/pulls.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { changePull, readPull } from './pull-store.ts';

/** How far back on the destination an earlier merge of the same pull request is looked for. */
const searchedCommits = 1000;
/** In the metadata of a squash: it has no parent that would tell what was merged. */
const pullKey = '.svc.pull.id';
const sourceKey = '.svc.pull.source';

/** Merges source into destination, then marks the pull request merged. */
export async function mergePull(
  context: EngineContext,
  merges: Merges,
  options: MergePullOptions,
): Promise<Commit> {
  const scope = await context.repositories.open(options.repository);
  const pull = await readPull(context, scope, options.id);
  if (pull.status !== pullOpen) throw badStatus();
  const commit = await mergeOrFindMerged(context, merges, scope, pull, options);
  await changePull(context, scope, options.id, options.actor, (data) => ({
    ...data,
    status: pullMerged,
    commitId: commit.id,
    closedAt: timestampFromMillis(context.clock()),
  }));
  return commit;
}

/**
 * When an earlier call merged but could not record it, the commit it made completes the pull request. A plain merge then
 * finds no changes, or that the destination moved; a squash, or a merge that may be empty, would be made again and is looked for first.
 */
async function mergeOrFindMerged(
  context: EngineContext,
  merges: Merges,
  scope: RepositoryScope,
  pull: PullRequestData,
  options: MergePullOptions,
): Promise<Commit> {
  const { id: _id, ...merge } = options;
  const { force, squash } = options;
  if (squash === true || force === true) {
    const merged = await findMergeCommit(context, scope, pull);
    if (merged !== undefined) return merged;
  }
  try {
    return await merges.merge({
      ...merge,
      source: pull.sourceBranch,
      destination: pull.destinationBranch,
      ownMetadata:
        squash === true
          ? (sourceCommitId) => ({ [pullKey]: pull.id, [sourceKey]: sourceCommitId })
          : undefined,
    });
  } catch (error) {
    const mayBeMerged =
      error instanceof EngineError && (error.kind === 'no_changes' || error.kind === 'precondition_failed');
    if (!mayBeMerged) throw error;
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
    if (commit.metadata[pullKey] === pull.id) return commit;
    // A commit may carry any date, so an old one does not end the search.
    const madeSince = commit.creationDate.seconds >= pull.createdAt.seconds;
    if (madeSince && commit.parents.length > 1 && commit.parents[1] === source.data.commitId) return commit;
    id = commit.parents[0];
  }
  return undefined;
}

function badStatus(): EngineError {
  return invalid('bad pull request status', 'pull_request');
}
