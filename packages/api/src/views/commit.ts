import type { Commit, Ref } from '@svc/engine';

export function commitView(commit: Commit) {
  return {
    id: commit.id,
    parents: commit.parents,
    committer: commit.committer,
    message: commit.message,
    creation_date: commit.creationDate.seconds,
    meta_range_id: commit.metaRangeId,
    metadata: commit.metadata,
    generation: commit.generation,
    version: commit.version,
  };
}

export function refView(ref: Ref) {
  return { id: ref.id, commit_id: ref.commitId };
}
