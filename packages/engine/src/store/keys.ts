/** Where records live in the key-value store. */

export const gravelerPartition = Buffer.from('graveler');
export const cleanupTokensPartition = Buffer.from('cleanup-tokens');
export const multipartsPartition = Buffer.from('multiparts');
export const usagePartition = Buffer.from('usage');
export const pullsPartition = Buffer.from('pulls');
export const catalogPartition = Buffer.from('catalog');
export const actionsPartition = Buffer.from('actions');

export const repositoriesPrefix = Buffer.from('repos/');
export const branchesPrefix = Buffer.from('branches/');
export const tagsPrefix = Buffer.from('tags/');
export const commitsPrefix = Buffer.from('commits/');
export const repoMetadataKey = Buffer.from('repo-metadata');
export const protectedBranchesKey = Buffer.from('settings/protected_branches');

export function repositoryKey(id: string): Buffer {
  return Buffer.from(`repos/${id}`);
}

export function namespacesPrefix(storageId: string): Buffer {
  return Buffer.from(`namespaces/${storageId}/`);
}

/** Reservation of a namespace; `namespace` without trailing slash. */
export function namespaceKey(storageId: string, namespace: string): Buffer {
  return Buffer.from(`namespaces/${storageId}/${namespace}`);
}

/** Namespaces of deleted repositories; their data is still there. */
export function formerNamespacesPrefix(storageId: string): Buffer {
  return Buffer.from(`former-namespaces/${storageId}/`);
}

export function formerNamespaceKey(storageId: string, namespace: string): Buffer {
  return Buffer.from(`former-namespaces/${storageId}/${namespace}`);
}

/** The mark that a failed creation could not take out of a namespace; `namespace` without trailing slash. */
export function leftMarkKey(storageId: string, namespace: string): Buffer {
  return Buffer.from(`left-marks/${storageId}/${namespace}`);
}

export const aliasesPrefix = Buffer.from('aliases/');
export const viewsPrefix = Buffer.from('views/');
export const deletedRepositoriesPrefix = Buffer.from('deleted/');

/** A repository in the trash. */
export function deletedRepositoryKey(id: string, instanceUid: string): Buffer {
  return Buffer.from(`deleted/${id}/${instanceUid}`);
}

export function repositoryPartition(id: string, instanceUid: string): Buffer {
  return Buffer.from(`${id}-${instanceUid}`);
}

export function branchKey(id: string): Buffer {
  return Buffer.from(`branches/${id}`);
}

export function tagKey(id: string): Buffer {
  return Buffer.from(`tags/${id}`);
}

export function commitKey(id: string): Buffer {
  return Buffer.from(`commits/${id}`);
}

export function multipartPartsPartition(uploadId: string): Buffer {
  return Buffer.from(`multipart-parts:${uploadId}`);
}

export function partKey(partNumber: number): Buffer {
  return Buffer.from(String(partNumber).padStart(5, '0'));
}

export { moveIdOfKey, moveKey, movesPrefix, outboxKey, outboxPrefix } from '@svc/encoding';

export const gravesPrefix = Buffer.from('graves/');
export const reflogSinceKey = Buffer.from('reflog-since');
export const reflogSettingsKey = Buffer.from('settings/reflog');

export function gravesOfPrefix(type: 'branch' | 'tag'): Buffer {
  return Buffer.from(`graves/${type === 'branch' ? 'b' : 't'}/`);
}

export function graveKey(type: 'branch' | 'tag', name: string): Buffer {
  return Buffer.from(`graves/${type === 'branch' ? 'b' : 't'}/${name}`);
}
