import type { RefsManifest, Repository } from '@svc/engine';

export function repositoryView(repository: Repository) {
  return {
    id: repository.id,
    creation_date: repository.creationDate.seconds,
    default_branch: repository.defaultBranch,
    storage_id: repository.storageId,
    storage_namespace: repository.storageNamespace,
    read_only: repository.readOnly,
  };
}

export function manifestView(manifest: RefsManifest) {
  return {
    commits_meta_range_id: manifest.commitsMetaRangeId,
    tags_meta_range_id: manifest.tagsMetaRangeId,
    branches_meta_range_id: manifest.branchesMetaRangeId,
  };
}

export function manifestOf(body: ReturnType<typeof manifestView>): RefsManifest {
  return {
    commitsMetaRangeId: body.commits_meta_range_id,
    tagsMetaRangeId: body.tags_meta_range_id,
    branchesMetaRangeId: body.branches_meta_range_id,
  };
}
