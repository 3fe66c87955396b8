import type { ObjectStats } from '@svc/client';

/** Keys of object metadata that every tool working with such folders reads and writes. */
export const clientMtimeKey = '::lakefs::client-mtime';
export const symlinkTargetKey = '::lakefs::symlink-target';
export const posixPermissionsKey = '::lakefs::posix-permissions';

export const indexName = '.svc_ref.yaml';
export const ignoreFileName = '.svcignore';

/** Names that belong to a folder and never to a repository. */
const neverSynced: ReadonlySet<string> = new Set([indexName, '.DS_Store', '.lakefs_ref.yaml']);

export function isNeverSynced(path: string): boolean {
  return neverSynced.has(path.slice(path.lastIndexOf('/') + 1));
}

export interface LocalEntry {
  /** Relative to the root, with `/`; folders end in `/`. */
  readonly path: string;
  readonly size: number;
  readonly mtimeSeconds: number;
  /** Where a symbolic link leads. */
  readonly symlinkTarget?: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

export interface RemoteEntry {
  readonly path: string;
  readonly stats: ObjectStats;
}

/** How to treat files, from the configuration. */
export interface FileRules {
  readonly skipNonRegularFiles: boolean;
  readonly symlinkSupport: boolean;
  readonly verifyChecksum: boolean;
  readonly posix: boolean;
  readonly includeUid: boolean;
  readonly includeGid: boolean;
}
