import type { ObjectStats } from '@svc/client';
import { posixPermissionsKey, type FileRules, type LocalEntry } from './entry.ts';

export interface PosixPermissions {
  readonly uid: number;
  readonly gid: number;
  /** `st_mode` with the file type. */
  readonly mode: number;
}

const typeBits = 0o170000;

export function encodePermissions(entry: LocalEntry): string {
  return JSON.stringify({ UID: entry.uid, GID: entry.gid, Mode: entry.mode });
}

/** The permissions an object records. One without any counts as a file made with the current mask. */
export function permissionsOf(stats: ObjectStats, isFolder: boolean): PosixPermissions {
  const text = stats.metadata?.[posixPermissionsKey];
  if (text !== undefined) {
    const { UID, GID, Mode } = JSON.parse(text) as { UID: number; GID: number; Mode: number };
    return { uid: UID, gid: GID, mode: Mode };
  }
  const mask = process.umask();
  const mode = isFolder ? 0o040777 & ~mask : 0o100666 & ~mask;
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1, mode };
}

export function differs(entry: LocalEntry, remote: PosixPermissions, rules: FileRules): boolean {
  return (
    (entry.mode & ~typeBits) !== (remote.mode & ~typeBits) ||
    (rules.includeUid && entry.uid !== remote.uid) ||
    (rules.includeGid && entry.gid !== remote.gid)
  );
}

export function permissionBits(permissions: PosixPermissions): number {
  return permissions.mode & ~typeBits;
}
