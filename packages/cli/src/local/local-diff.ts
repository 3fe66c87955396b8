import { isPlainMd5 } from '@svc/client';
import { join } from 'node:path';
import { compareUtf8 } from '@svc/encoding';
import { md5OfFile } from '../transfer/downloader.ts';
import type { Change } from './changes.ts';
import {
  clientMtimeKey,
  symlinkTargetKey,
  type FileRules,
  type LocalEntry,
  type RemoteEntry,
} from './entry.ts';
import { differs, permissionsOf } from './posix.ts';

/** Walks a folder and a listing side by side; both are in byte order. */
export async function* diffFolder(
  root: string,
  local: Iterator<LocalEntry>,
  remote: AsyncIterator<RemoteEntry>,
  rules: FileRules,
): AsyncGenerator<Change> {
  let left = local.next();
  let right = await remote.next();
  for (;;) {
    if (left.done === true && right.done === true) return;
    const order =
      left.done === true ? 1 : right.done === true ? -1 : compareUtf8(left.value.path, right.value.path);
    if (order < 0 && left.done !== true) {
      yield { side: 'local', kind: 'added', path: left.value.path };
      left = local.next();
    } else if (order > 0 && right.done !== true) {
      yield { side: 'local', kind: 'removed', path: right.value.path, stats: right.value.stats };
      right = await remote.next();
    } else if (left.done !== true && right.done !== true) {
      if (isModified(root, left.value, right.value, rules)) {
        yield { side: 'local', kind: 'modified', path: left.value.path, stats: right.value.stats };
      }
      left = local.next();
      right = await remote.next();
    }
  }
}

function isModified(root: string, local: LocalEntry, { stats }: RemoteEntry, rules: FileRules): boolean {
  const isFolder = local.path.endsWith('/');
  if (rules.symlinkSupport) {
    const target = stats.metadata?.[symlinkTargetKey];
    if (local.symlinkTarget !== undefined || target !== undefined) return local.symlinkTarget !== target;
  }
  if (rules.posix && differs(local, permissionsOf(stats, isFolder), rules)) return true;
  if (isFolder) return false;
  if (local.size !== (stats.size_bytes ?? 0)) return true;
  if (local.mtimeSeconds === remoteMtime(stats)) return false;
  // The file was touched but need not have changed: compare the content where possible.
  if (!rules.verifyChecksum || !isPlainMd5(stats.checksum)) return true;
  return md5OfFile(join(root, ...local.path.split('/'))) !== stats.checksum;
}

/** The file's modification time as the object records it. */
export function remoteMtime(stats: RemoteEntry['stats']): number {
  const own = Number(stats.metadata?.[clientMtimeKey] ?? Number.NaN);
  return Number.isNaN(own) ? stats.mtime : own;
}
