import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { ApiError } from '@svc/client';
import type { CommandContext } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { warnIfCaseInsensitive } from '../../local/case-sensitivity.ts';
import { hasIndex, indexFile, writeIndex, type FolderIndex } from '../../local/folder-index.ts';
import { gitRootAbove, ignoreInGit } from '../../local/git.ts';
import { LinkedFolder } from '../../local/linked-folder.ts';
import type { PathUri } from '../../uri.ts';

export interface LinkFlags {
  readonly force?: boolean;
  readonly gitignore: boolean;
}

/** Links a folder to a path: everything that can be refused is refused before anything is written. */
export async function linkFolder(
  context: CommandContext,
  uri: PathUri,
  folder: string,
  flags: LinkFlags,
  activeOperation: string,
): Promise<{ folder: LinkedFolder; index: FolderIndex }> {
  const root = resolve(folder);
  const src = { ...uri, path: await folderPath(context, uri) };
  const linked = new LinkedFolder(context, root, src);
  const atHead = await linked.resolve(uri.ref);
  const gitTop = flags.gitignore ? gitRootAbove(root) : undefined;
  warnIfCaseInsensitive(context.out, root, process.env);
  mkdirSync(root, { recursive: true });
  if (hasIndex(root) && flags.force !== true) {
    throw new CliError(
      `${indexFile(root)} exists: the folder is linked already (use --force to link it again)`,
    );
  }
  const index = { src, atHead, activeOperation };
  writeIndex(root, index);
  if (gitTop !== undefined) {
    const changed = ignoreInGit(gitTop, root);
    context.out.info(`Location added to ${changed}`);
  }
  return { folder: linked, index };
}

/** Refuses a path that names an object; adds the slash to any other. */
async function folderPath(context: CommandContext, uri: PathUri): Promise<string> {
  const { repository, ref, path } = uri;
  if (path === '' || path.endsWith('/')) return path;
  const found = await context.client
    .get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository, ref }, query: { path } },
    })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.isNotFound) return undefined;
      throw error;
    });
  if (found !== undefined) throw new CliError(`${path} is an object: a folder can follow only a prefix`);
  return `${path}/`;
}
