import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { ignoreFileName, isNeverSynced } from './entry.ts';

/** Paths of a folder that are never synchronised: fixed names, and what `.svcignore` lists in gitignore syntax. */
export class IgnoreRules {
  /** Undefined when nothing is listed: most folders have no such file. */
  readonly #listed: Ignore | undefined;

  constructor(text: string) {
    // Keys of a repository may look like paths that leave the folder; the download refuses them.
    const options = { ignorecase: false, allowRelativePaths: true };
    this.#listed = text.trim() === '' ? undefined : ignore(options).add(text);
  }

  static of(root: string): IgnoreRules {
    try {
      return new IgnoreRules(readFileSync(join(root, ignoreFileName), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new IgnoreRules('');
      throw error;
    }
  }

  /** `path` is relative with `/`; a folder ends in `/`. */
  ignores(path: string): boolean {
    if (!path.endsWith('/') && isNeverSynced(path)) return true;
    return path !== '' && this.#listed?.ignores(path) === true;
  }
}
