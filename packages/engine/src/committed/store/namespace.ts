import { join } from 'node:path';
import type { CommittedContext } from '../context.ts';

/** A repository's place, resolved once: plain data, so that it can cross to another thread. */
export interface Namespace {
  readonly storageId: string;
  readonly storageNamespace: string;
  readonly metadataPrefix: string;
  readonly rangeFolder: string;
  readonly metaRangeFolder: string;
}

export interface CacheFolders {
  readonly range: string;
  readonly metaRange: string;
}

export function cacheFolders(cacheDir: string): CacheFolders {
  return { range: join(cacheDir, 'range'), metaRange: join(cacheDir, 'meta-range') };
}

export function resolveNamespace(context: CommittedContext, folders: CacheFolders): Namespace {
  const place = placeOf(context);
  return {
    storageId: context.storageId,
    storageNamespace: context.storageNamespace,
    metadataPrefix: context.metadataPrefix,
    rangeFolder: join(folders.range, place),
    metaRangeFolder: join(folders.metaRange, place),
  };
}

/** `<storage id>:<host without port>/<path>`; segments that would leave the folder are escaped. */
function placeOf({ storageId, storageNamespace }: CommittedContext): string {
  const rest = storageNamespace.replace(/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\//, '');
  const [authority = '', ...segments] = rest.split('/');
  const host = authority.replace(/:\d+$/, '');
  const first = storageId === '' ? host : `${storageId}:${host}`;
  return [first, ...segments]
    .filter((segment) => segment !== '')
    .map((segment) => (/^\.{1,2}$/.test(segment) ? segment.replaceAll('.', '%2E') : segment))
    .join('/');
}
