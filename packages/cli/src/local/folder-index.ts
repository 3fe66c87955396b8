import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';
import { CliError } from '../errors.ts';
import { UriParser, type PathUri } from '../uri.ts';
import { indexName } from './entry.ts';

export type Operation = 'clone' | 'pull' | 'checkout' | 'commit';

/** What a linked folder is linked to. */
export interface FolderIndex {
  /** Ends in `/`, or has the empty path. */
  readonly src: PathUri;
  /** The commit the files correspond to. */
  readonly atHead: string;
  /** An operation that began and has not ended: the files are between two states. */
  readonly activeOperation: string;
}

const uris = new UriParser('');

export function indexFile(root: string): string {
  return join(root, indexName);
}

export function hasIndex(root: string): boolean {
  return existsSync(indexFile(root));
}

export function readIndex(root: string): FolderIndex {
  const file = indexFile(root);
  let document: unknown;
  try {
    document = parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  const { src, at_head: atHead, active_operation: active } = (document ?? {}) as Record<string, unknown>;
  if (typeof src !== 'string' || typeof atHead !== 'string') {
    throw new CliError(`${file} is not the index of a linked folder: src or at_head is missing`);
  }
  const uri = uris.path(src, `${file}: src`);
  return { src: uri, atHead, activeOperation: typeof active === 'string' ? active : '' };
}

/** Replaces the index in one step: a crash leaves the old one or the new one. */
export function writeIndex(root: string, index: FolderIndex): void {
  const file = indexFile(root);
  const fresh = `${file}.${randomBytes(6).toString('hex')}`;
  const { repository, ref, path } = index.src;
  const text = stringify(
    {
      src: `svc://${repository}/${encodePart(ref)}/${encodePart(path)}`,
      at_head: index.atHead,
      active_operation: index.activeOperation,
    },
    { lineWidth: 0 },
  );
  writeFileSync(fresh, text, { mode: 0o644 });
  renameSync(fresh, file);
}

/** Quotes only what YAML would misread, so that the file stays readable. */
function encodePart(text: string): string {
  return text.replaceAll('%', '%25');
}

/** The linked folder a path lies in: itself or the nearest parent with an index. */
export function findRoot(start: string): string {
  for (let folder = resolve(start); dirname(folder) !== folder; folder = dirname(folder)) {
    if (hasIndex(folder)) return folder;
  }
  throw new CliError(
    `${resolve(start)} is not linked to a repository: use "svcctl local init" or "local clone"`,
  );
}

const recovery: Record<string, string> = {
  commit: 'run "svcctl local commit" again, or "svcctl local pull --force"',
  checkout: 'run "svcctl local checkout"',
  pull: 'run "svcctl local pull --force"',
  clone: 'run "svcctl local checkout", or clone into another folder',
};

/** How to get out of an interrupted operation. */
export function interruptedMessage(root: string, index: FolderIndex): string {
  const advice = recovery[index.activeOperation];
  if (advice === undefined) {
    return `${indexFile(root)}: unknown active_operation "${index.activeOperation}"; run "svcctl local checkout"`;
  }
  return `the last ${index.activeOperation} in ${root} was interrupted and its files may be incomplete: ${advice}`;
}

export function refuseInterrupted(root: string, index: FolderIndex): void {
  if (index.activeOperation !== '') throw new CliError(interruptedMessage(root, index));
}
