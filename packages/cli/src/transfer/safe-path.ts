import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { CliError } from '../errors.ts';

/** Turns keys into paths below one folder. Refuses keys that would leave it or be read back as another key. */
export class SafeFolder {
  readonly root: string;
  /** Folders known to be real folders below the root. */
  readonly #checked = new Set<string>();

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
  prepare(key: string): string {
    const path = this.pathOf(key);
    this.#folder('');
    for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1))
      this.#folder(key.slice(0, end));
    return path;
  }

  /** The path of a key that may be deleted: none of its folders is a symbolic link. */
  locate(key: string): string {
    const path = this.pathOf(key);
    for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
      const relative = key.slice(0, end);
      if (lstatIfPresent(join(this.root, relative))?.isSymbolicLink() === true) throw this.#isLink(relative);
    }
    return path;
  }

  #isLink(relative: string): CliError {
    return new CliError(`refused to go below "${relative}": it is a symbolic link in ${this.root}`);
  }

  #folder(relative: string): void {
    if (this.#checked.has(relative)) return;
    this.#makeFolder(relative);
    this.#checked.add(relative);
  }

  #makeFolder(relative: string): void {
    if (relative === '') {
      mkdirSync(this.root, { recursive: true });
      return;
    }
    const path = join(this.root, ...relative.split('/'));
    try {
      mkdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const found = lstatSync(path);
    if (found.isSymbolicLink()) throw this.#isLink(relative);
    if (!found.isDirectory()) {
      throw new CliError(`"${relative}" is a file, and other paths need it as a folder: ${path}`);
    }
  }
}

/** What is at a path, without following a link; undefined when nothing is. */
export function lstatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw error;
  }
}
