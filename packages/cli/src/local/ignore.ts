import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ignoreFileName, isNeverSynced } from './entry.ts';

interface Rule {
  readonly pattern: RegExp;
  readonly negated: boolean;
  readonly foldersOnly: boolean;
}

/** Which paths of a folder stay out of everything: fixed names, and what `.svcignore` lists in gitignore syntax. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];
  readonly #folders = new Map<string, boolean>();

  constructor(text: string) {
    this.#rules = text.split(/\r?\n/).flatMap((line) => parseRule(line) ?? []);
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
    const isFolder = path.endsWith('/');
    const name = isFolder ? path.slice(0, -1) : path;
    if (!isFolder && isNeverSynced(name)) return true;
    if (this.#rules.length === 0) return false;
    const parent = name.lastIndexOf('/');
    if (parent >= 0 && this.#ignoresFolder(name.slice(0, parent))) return true;
    return isFolder ? this.#ignoresFolder(name) : this.#matches(name, false);
  }

  /** Nothing below an ignored folder can be taken back in. */
  #ignoresFolder(name: string): boolean {
    let known = this.#folders.get(name);
    if (known === undefined) {
      const parent = name.lastIndexOf('/');
      known = (parent >= 0 && this.#ignoresFolder(name.slice(0, parent))) || this.#matches(name, true);
      this.#folders.set(name, known);
    }
    return known;
  }

  #matches(name: string, isFolder: boolean): boolean {
    const last = this.#rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.pattern.test(name));
    return last !== undefined && !last.negated;
  }
}

function parseRule(line: string): Rule | undefined {
  let text = line.replace(/(?<!\\) +$/, '');
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  if (text === '') return undefined;
  // A slash inside the pattern ties it to the root; a bare name matches at any depth.
  const anchored = text.includes('/');
  if (text.startsWith('/')) text = text.slice(1);
  const body = globToRegExp(text);
  return { pattern: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${body}$`, 's'), negated, foldersOnly };
}

function globToRegExp(glob: string): string {
  let out = '';
  for (let at = 0; at < glob.length; at += 1) {
    const rest = glob.slice(at);
    const character = glob[at] ?? '';
    const set = /^\[(!|\^)?(\]?[^\]]*)\]/.exec(rest);
    if (rest.startsWith('**/')) {
      out += '(?:.*/)?';
      at += 2;
    } else if (rest === '/**') {
      out += '/.*';
      at += 2;
    } else if (rest.startsWith('**')) {
      out += '.*';
      at += 1;
    } else if (character === '*') out += '[^/]*';
    else if (character === '?') out += '[^/]';
    else if (character === '\\' && at + 1 < glob.length) {
      at += 1;
      out += escapeRegExp(glob[at] ?? '');
    } else if (set !== null) {
      out += `[${set[1] === undefined ? '' : '^'}${(set[2] ?? '').replaceAll(/[\\\]]/g, '\\$&')}]`;
      at += set[0].length - 1;
    } else out += escapeRegExp(character);
  }
  return out;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
