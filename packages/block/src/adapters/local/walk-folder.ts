import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { errorCode, readError } from './errors.ts';
import { compareEntries, isBehind } from './walk-order.ts';
import { walkPage, type SkippedNames, type WalkColumns, type WalkPlan } from './walk-protocol.ts';

const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const readUnit = 1024 * 1024;
const dot = 0x2e;

interface Folder {
  /** With a trailing `/`. */
  readonly path: string;
  readonly entries: readonly Dirent<Buffer>[];
  next: number;
}

/**
 * Regular files below a folder in the byte order of their full paths, without a single wait: for threads of their
 * own. Holds the names of one folder per level, because a file system lists them in no order. Names that are not UTF-8
 * are counted and left out.
 */
export function* walkFolder(plan: WalkPlan, skipped: SkippedNames): Generator<WalkColumns> {
  const prefix = Buffer.from(plan.prefix);
  const after = plan.after === undefined ? undefined : Buffer.from(plan.after);
  const hashes = new FileHashes();
  const stack = [openFolder(`${plan.folder}/`, plan.hidden, prefix)];
  let page = new PageBuilder();
  for (let folder = stack.at(-1); folder !== undefined; folder = stack.at(-1)) {
    const entry = folder.entries[folder.next++];
    if (entry === undefined) {
      stack.pop();
      continue;
    }
    if (!isUtf8(entry.name)) {
      const bytes = Buffer.concat([Buffer.from(folder.path), entry.name]);
      if (isBehind(bytes, after, 'file')) continue;
      skipped.count += 1;
      skipped.example = bytes.toString();
      continue;
    }
    const path = folder.path + entry.name.toString();
    if (entry.isDirectory()) {
      if (plan.reserved.includes(path) || isBehind(`${path}/`, after, 'folder')) continue;
      stack.push(openFolder(`${path}/`, plan.hidden));
      continue;
    }
    if (isBehind(path, after, 'file')) continue;
    const stats = statFile(path);
    if (stats === undefined) continue;
    const etag = plan.skipEtag ? '' : hashes.of(path, stats);
    if (etag === undefined) continue;
    page.add(path, etag, stats);
    if (page.length < walkPage) continue;
    yield page.columns();
    page = new PageBuilder();
  }
  if (page.length > 0) yield page.columns();
}

function openFolder(path: string, hidden: boolean, prefix?: Buffer): Folder {
  let entries: Dirent<Buffer>[];
  try {
    entries = readdirSync(path, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw readError(error, path);
    entries = [];
  }
  const kept = entries.filter(
    (entry) =>
      (entry.isFile() || entry.isDirectory()) &&
      (hidden || entry.name[0] !== dot) &&
      (prefix === undefined || entry.name.subarray(0, prefix.length).equals(prefix)),
  );
  return { path, entries: kept.sort(compareEntries), next: 0 };
}

/** Undefined when the file went away since its folder was read. */
function statFile(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats : undefined;
}

class PageBuilder {
  readonly #paths: string[] = [];
  readonly #etags: string[] = [];
  readonly #sizes = new Float64Array(walkPage);
  readonly #modified = new Float64Array(walkPage);

  get length(): number {
    return this.#paths.length;
  }

  add(path: string, etag: string, stats: Stats): void {
    const at = this.#paths.length;
    this.#sizes[at] = stats.size;
    this.#modified[at] = stats.mtimeMs;
    this.#paths.push(path);
    this.#etags.push(etag);
  }

  columns(): WalkColumns {
    return { paths: this.#paths, etags: this.#etags, sizes: this.#sizes, modified: this.#modified };
  }
}

/** Most files with several names stand close together; more than this is not remembered. */
const rememberedHashes = 10_000;

/** MD5 of file contents. A file with several names (hard links) is read once. */
class FileHashes {
  readonly #known = new Map<string, string>();
  readonly #buffer = Buffer.allocUnsafeSlow(readUnit);

  /** Undefined when the file went away. */
  of(path: string, stats: Stats): string | undefined {
    if (stats.nlink < 2) return this.#read(path);
    const identity = `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
    const known = this.#known.get(identity);
    if (known !== undefined) return known;
    const hash = this.#read(path);
    if (hash === undefined) return undefined;
    if (this.#known.size >= rememberedHashes) this.#known.clear();
    this.#known.set(identity, hash);
    return hash;
  }

  #read(path: string): string | undefined {
    let fd: number;
    try {
      fd = openSync(path, readFlags);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw readError(error, path);
    }
    try {
      const hash = createHash('md5');
      for (;;) {
        const count = readSync(fd, this.#buffer, 0, readUnit, null);
        if (count > 0) hash.update(this.#buffer.subarray(0, count));
        if (count === 0) return hash.digest('hex');
      }
    } catch (error) {
      throw readError(error, path);
    } finally {
      closeSync(fd);
    }
  }
}
