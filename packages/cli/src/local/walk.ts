import { lstatSync, readdirSync, readlinkSync, rmSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { compareUtf8 } from '@svc/encoding';
import { CliError } from '../errors.ts';
import type { FileRules, LocalEntry } from './entry.ts';
import type { IgnoreRules } from './ignore.ts';

/**
 * The files below a folder in byte order of their whole relative paths: a folder sorts as `name/`, so that
 * `subdir-a/x` comes before `subdir/x`, as it does in a repository.
 */
export function* walkFolder(root: string, rules: FileRules, ignored: IgnoreRules): Generator<LocalEntry> {
  yield* walk(root, '', rules, ignored);
}

function* walk(
  folder: string,
  prefix: string,
  rules: FileRules,
  ignored: IgnoreRules,
): Generator<LocalEntry> {
  const entries = readdirSync(folder, { withFileTypes: true }).map((entry) => ({
    entry,
    sortKey: entry.isDirectory() ? `${entry.name}/` : entry.name,
  }));
  entries.sort((a, b) => compareUtf8(a.sortKey, b.sortKey));
  for (const { entry, sortKey } of entries) {
    const path = prefix + sortKey;
    if (ignored.ignores(path) || isPart(entry.name)) continue;
    const file = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (rules.posix) yield describe(file, path);
      yield* walk(file, path, rules, ignored);
    } else if (isWanted(entry, path, rules)) yield describe(file, path);
  }
}

/** An unfinished download; it has its name only when it is complete. */
function isPart(name: string): boolean {
  return /\.svcpart-[0-9a-f]{12}$/.test(name);
}

/** Deletes what downloads of an interrupted operation left behind. */
export function removeParts(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeParts(path);
    else if (entry.isFile() && isPart(entry.name)) rmSync(path, { force: true });
  }
}

function isWanted(entry: Dirent, path: string, rules: FileRules): boolean {
  if (entry.isFile()) return true;
  if (entry.isSymbolicLink() && rules.symlinkSupport) return true;
  if (rules.skipNonRegularFiles) return false;
  throw new CliError(
    `${path}: not a regular file (local.skip_non_regular_files skips such files, local.symlink_support keeps symbolic links)`,
  );
}

export function describe(file: string, path: string): LocalEntry {
  const stats = lstatSync(file);
  const isLink = stats.isSymbolicLink();
  return {
    path,
    size: stats.isFile() ? stats.size : 0,
    mtimeSeconds: Math.floor(stats.mtimeMs / 1000),
    ...(isLink && { symlinkTarget: readlinkSync(file) }),
    mode: stats.mode,
    uid: stats.uid,
    gid: stats.gid,
  };
}
