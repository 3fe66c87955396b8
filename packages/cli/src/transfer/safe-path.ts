import type { Stats } from 'node:fs';
import { lstat, mkdir } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { CliError } from '../errors.ts';

/** Turns keys into paths below one folder. Refuses keys that would leave it or be read back as another key. */
export class SafeFolder {
  readonly root: string;
  /** Folders known to be real folders below the root. */
  readonly #checked = new Map<string, Promise<void>>();

  constructor(root: string) {
    this.root = resolve(root);
  }

  pathOf(key: string): string {
    const segments = key.split('/');
    const bad =
      key === '' ||
      key.includes('\0') ||
      segments.some((segment) => segment === '..' || segment === '.' || segment === '') ||
      (process.platform === 'win32' && /[\\:]/.test(key));
    const path = join(this.root, ...segments);
    const inside = this.root.endsWith(sep) ? this.root : this.root + sep;
    if (bad || !path.startsWith(inside)) {
      throw new CliError(`refused to write "${key}": it is not a path below ${this.root}`);
    }
    return path;
  }

  /** Makes the folders on the way to a key. A symbolic link among them could lead out of the root. */
  async prepare(key: string): Promise<string> {
    const path = this.pathOf(key);
    const segments = key.split('/');
    await this.#folder('');
    for (let depth = 1; depth < segments.length; depth += 1) {
      await this.#folder(segments.slice(0, depth).join('/'));
    }
    return path;
  }

  /** The path of a key that may be deleted: none of its folders is a symbolic link. */
  async locate(key: string): Promise<string> {
    const path = this.pathOf(key);
    const segments = key.split('/');
    for (let depth = 1; depth < segments.length; depth += 1) {
      const relative = segments.slice(0, depth).join('/');
      const found = await lstatIfPresent(join(this.root, relative));
      if (found?.isSymbolicLink() === true) throw this.#isLink(relative);
    }
    return path;
  }

  #isLink(relative: string): CliError {
    return new CliError(`refused to go below "${relative}": it is a symbolic link in ${this.root}`);
  }

  #folder(relative: string): Promise<void> {
    let checked = this.#checked.get(relative);
    if (checked === undefined) {
      checked = this.#makeFolder(relative);
      this.#checked.set(relative, checked);
    }
    return checked;
  }

  async #makeFolder(relative: string): Promise<void> {
    const path = relative === '' ? this.root : join(this.root, ...relative.split('/'));
    if (relative === '') {
      await mkdir(path, { recursive: true });
      return;
    }
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const found = await lstat(path);
    if (found.isSymbolicLink()) throw this.#isLink(relative);
    if (!found.isDirectory()) {
      throw new CliError(`"${relative}" is a file, and other paths need it as a folder: ${path}`);
    }
  }
}

/** What is at a path, without following a link; undefined when nothing is. */
export async function lstatIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
