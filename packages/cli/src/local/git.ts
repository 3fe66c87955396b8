import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { CliError } from '../errors.ts';
import { indexName } from './entry.ts';

const sectionStart = '# ignored by svcctl local';
const sectionEnd = '# End ignored by svcctl local';

function git(folder: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync('git', [...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    // No git, or no git repository: nothing to integrate with.
    return undefined;
  }
}

/** The top folder of the git repository a folder lies in. */
export function gitRoot(folder: string): string | undefined {
  let at = resolve(folder);
  while (!existsSync(at)) at = dirname(at);
  return git(at, ['rev-parse', '--show-toplevel']);
}

/** The top folder, provided that the folder is not itself the top. */
export function gitRootAbove(folder: string): string | undefined {
  const root = gitRoot(folder);
  if (root !== undefined && existsSync(folder) && realpathSync(folder) === realpathSync(root)) {
    throw new CliError(
      `${folder} is the top of a git repository: use a folder below it, or --gitignore=false`,
    );
  }
  return root;
}

/** Keeps git away from a linked folder's data, but not from its index. Returns the changed file. */
export function ignoreInGit(root: string, folder: string): string {
  const file = join(root, '.gitignore');
  const inside = relative(realpathSync(root), realpathSync(folder)).split(sep).join('/');
  const old = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o644;
  writeFileSync(file, addIgnoreSection(old, [`${inside}/*`, `!${inside}/${indexName}`]), { mode });
  return file;
}

export function addIgnoreSection(text: string, entries: readonly string[]): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const start = lines.indexOf(sectionStart);
  if (start < 0) return `${[...lines, sectionStart, ...entries, sectionEnd].join('\n')}\n`;
  let end = start + 1;
  while (end < lines.length && lines[end] !== sectionEnd && lines[end]?.trim() !== '') end += 1;
  const kept = lines.slice(start + 1, end).filter((line) => !line.startsWith('#') && !entries.includes(line));
  const rest = lines.slice(lines[end] === sectionEnd ? end + 1 : end);
  return `${[...lines.slice(0, start), sectionStart, ...kept, ...entries, sectionEnd, ...rest].join('\n')}\n`;
}

const commitUrls: Record<string, (project: string, sha: string) => string> = {
  'github.com': (project, sha) => `https://github.com/${project}/commit/${sha}`,
  'gitlab.com': (project, sha) => `https://gitlab.com/${project}/-/commit/${sha}`,
  'bitbucket.org': (project, sha) => `https://bitbucket.org/${project}/commits/${sha}`,
};

/** Metadata that ties a commit of data to the code beside it. */
export function gitMetadata(folder: string): Record<string, string> {
  const sha = git(folder, ['rev-parse', '--short', 'HEAD']);
  if (sha === undefined || sha === '') return {};
  const origin = git(folder, ['remote', 'get-url', 'origin']) ?? '';
  return { git_commit_id: sha, ...linkOf(origin, sha) };
}

export function linkOf(origin: string, sha: string): Record<string, string> {
  const match = /([\w.:]+)[/:]([\w.-]+)\/([\w.-]+)\.git$/.exec(origin);
  const [, server = '', owner = '', project = ''] = match ?? [];
  const url = commitUrls[server]?.(`${owner}/${project}`, sha);
  return url === undefined ? {} : { [`::lakefs::${server}::url[url:ui]`]: url };
}
