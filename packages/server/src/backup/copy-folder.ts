import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, open, opendir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface CopyCount {
  files: number;
  bytes: number;
  /** Of these, what was not there yet. */
  copiedFiles: number;
  copiedBytes: number;
}

export interface CopyOptions {
  readonly from: string;
  readonly to: string;
  /** Files are made here and moved into place whole; on the file system of `to`. */
  readonly temporary: string;
  /** Names directly below `from` that are left out. */
  readonly without: ReadonlySet<string>;
  readonly count: CopyCount;
}

const atOnce = 16;
/** A file that changed so shortly before it was copied may change again without its time telling. */
const settledMs = 2000;

/**
 * Makes `to` hold every file of `from`, and copies only what it does not hold yet: a file with the same size and time
 * is taken for the same. Nothing is removed. A file that vanishes meanwhile is left out.
 */
export async function copyFolder(options: CopyOptions): Promise<void> {
  const { from, to, without } = options;
  await mkdir(options.temporary, { recursive: true, mode: 0o700 });
  await mkdir(to, { recursive: true, mode: 0o700 });
  const files = filesOf(from, '', without);
  let number = 0;
  const work = async (): Promise<void> => {
    for (let next = await files.next(); next.done !== true; next = await files.next()) {
      const temporary = join(options.temporary, String(number++));
      await copyOne(join(from, next.value), join(to, next.value), temporary, options.count);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await rm(options.temporary, { recursive: true, force: true });
}

async function* filesOf(root: string, folder: string, without: ReadonlySet<string>): AsyncGenerator<string> {
  const entries = await opendir(join(root, folder)).catch(ignoreMissing);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (folder === '' && without.has(entry.name)) continue;
    if (entry.isDirectory()) yield* filesOf(root, path, without);
    else if (entry.isFile()) yield path;
    else if (entry.isSymbolicLink()) throw new LinkError(join(root, path));
  }
}

/** Whoever placed a link decides what it shows: a copy would freeze or lose that. */
export class LinkError extends Error {
  override readonly name = 'LinkError';

  constructor(path: string) {
    super(`${path} is a symbolic link, which a backup cannot hold; replace it by what it points to`);
  }
}

async function copyOne(source: string, target: string, temporary: string, count: CopyCount): Promise<void> {
  const found = await stat(source).catch(ignoreMissing);
  if (found === undefined) return;
  count.files++;
  count.bytes += found.size;
  const there = await lstat(target).catch(ignoreMissing);
  if (there !== undefined && there.size === found.size && isSameTime(there.mtimeMs, found.mtimeMs)) return;
  try {
    await copyFile(source, temporary, constants.COPYFILE_FICLONE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return;
  }
  const isSettled = Date.now() - found.mtimeMs > settledMs;
  await utimes(temporary, new Date(), isSettled ? new Date(found.mtimeMs) : new Date(0));
  await flushFile(temporary);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await rename(temporary, target);
  count.copiedFiles++;
  count.copiedBytes += found.size;
}

async function flushFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Times are kept in whole milliseconds: the copy's is set from a date. */
function isSameTime(one: number, other: number): boolean {
  return Math.floor(one) === Math.floor(other);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
