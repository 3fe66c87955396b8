import type { DeletedRepository, RefsManifest, Repository } from '@svc/engine';
import { dateTimeView } from './time.ts';

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

export function deletedRepositoryView(deleted: DeletedRepository) {
  return {
    id: deleted.id,
    instance: deleted.instance,
    storage_namespace: deleted.storageNamespace,
    storage_id: deleted.storageId,
    default_branch: deleted.defaultBranch,
    deleted_at: dateTimeView(deleted.deletedAt),
    deleted_by: deleted.deletedBy,
    restorable_until: dateTimeView(deleted.restorableUntil),
    delete_data: deleted.deleteData,
    displaced_by: deleted.displacedBy,
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
