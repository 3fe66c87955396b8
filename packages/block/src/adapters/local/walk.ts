import { isUtf8 } from 'node:buffer';
import type { Dirent } from 'node:fs';
import { closeSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { WalkedObject, WalkOptions } from '../../adapter.ts';
import { requireStorageUri } from '../../address.ts';
import { BlockError } from '../../errors.ts';
import { errorCode, readError } from './errors.ts';
import type { LocalPaths } from './paths.ts';
import type { FileReader } from './read-file.ts';

const walkPage = 1000;
const concurrentReads = 4;
const slash = 0x2f;
const dot = 0x2e;

interface Folder {
  /** With a trailing `/`. */
  readonly path: string;
  readonly entries: readonly Dirent<Buffer>[];
  next: number;
}

/**
 * Regular files below a folder in the byte order of their full paths. Holds the names of one folder per level,
 * because a file system lists them in no order.
 */
export async function* walkFiles(
  paths: LocalPaths,
  reader: FileReader,
  uri: string,
  options: WalkOptions & { readonly hidden: boolean },
): AsyncGenerator<WalkedObject[]> {
  const { folder: base, prefix } = paths.locateWalk(uri);
  const prefixBytes = Buffer.from(prefix);
  const after = options.after === undefined ? undefined : Buffer.from(afterPath(options.after));
  const baseLength = base.length + 1;

  const openFolder = async (path: string, keep?: (name: Buffer) => boolean): Promise<Folder> => {
    options.signal?.throwIfAborted();
    let entries: Dirent<Buffer>[];
    try {
      entries = await readdir(path, { withFileTypes: true, encoding: 'buffer' });
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') entries = [];
      else throw readError(error, path);
    }
    const kept = entries.filter(
      (entry) =>
        (entry.isFile() || entry.isDirectory()) &&
        (options.hidden || entry.name[0] !== dot) &&
        (keep === undefined || keep(entry.name)),
    );
    return { path, entries: kept.sort(compareEntries), next: 0 };
  };

  const stack = [
    await openFolder(`${base}/`, (name) => name.subarray(0, prefixBytes.length).equals(prefixBytes)),
  ];
  let files: string[] = [];
  for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
    const entry = folder.entries[folder.next++];
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    if (!isUtf8(entry.name)) {
      throw new BlockError(
        'invalid_address',
        `the name of "${folder.path}${entry.name.toString()}" is not UTF-8: rename the file to make it addressable`,
      );
    }
    const path = folder.path + entry.name.toString();
    if (entry.isDirectory()) {
      if (paths.isReserved(path) || isBehind(`${path}/`, after, 'folder')) continue;
      stack.push(await openFolder(`${path}/`));
      continue;
    }
    if (isBehind(path, after, 'file')) continue;
    files.push(path);
    if (files.length === walkPage) {
      yield await describe(files);
      files = [];
    }
  }
  if (files.length > 0) yield await describe(files);

  async function describe(page: readonly string[]): Promise<WalkedObject[]> {
    const found: (WalkedObject | undefined)[] = Array.from({ length: page.length });
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < page.length; index = next++) {
        options.signal?.throwIfAborted();
        found[index] = await describeFile(page[index] ?? '');
      }
    };
    await Promise.all(Array.from({ length: concurrentReads }, work));
    return found.filter((object) => object !== undefined);
  }

  async function describeFile(path: string): Promise<WalkedObject | undefined> {
    let file;
    try {
      file = await reader.open(path);
    } catch (error) {
      // Deleted since its folder was read.
      if (error instanceof BlockError && error.kind === 'not_found') return undefined;
      throw error;
    }
    try {
      return {
        uri: `local://${path}`,
        relativeKey: path.slice(baseLength),
        etag: options.skipEtag === true ? '' : await reader.md5(file),
        size: file.stats.size,
        lastModified: file.stats.mtime,
      };
    } finally {
      closeSync(file.fd);
    }
  }
}

function afterPath(after: string): string {
  const uri = requireStorageUri('local', after, 'invalid_address');
  if (uri.host !== '') {
    throw new BlockError(
      'invalid_address',
      `the walk cannot continue after "${after}": expected local:// and an absolute path`,
    );
  }
  return uri.path;
}

/** A folder sorts as its name with a `/`, because that is how its files' paths go on: `a-b` before `a/c`. */
function compareEntries(a: Dirent<Buffer>, b: Dirent<Buffer>): number {
  const shorter = Math.min(a.name.length, b.name.length);
  const order = a.name.compare(b.name, 0, shorter, 0, shorter);
  return order === 0 ? byteAfter(a, shorter) - byteAfter(b, shorter) : order;
}

function byteAfter(entry: Dirent<Buffer>, index: number): number {
  return entry.name[index] ?? (entry.isDirectory() ? slash : -1);
}

/** Whether everything at this path was seen before the walk was interrupted. */
function isBehind(path: string, after: Buffer | undefined, kind: 'file' | 'folder'): boolean {
  if (after === undefined) return false;
  const bytes = Buffer.from(path);
  if (kind === 'file') return bytes.compare(after) <= 0;
  return bytes.compare(after.subarray(0, bytes.length)) < 0;
}
