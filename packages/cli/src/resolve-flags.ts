import { stat } from 'node:fs/promises';
import { type components, uploadScratch } from '@svc/client';
import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { CliError, UsageError } from './errors.ts';
import { readInput } from './input.ts';
import { fileSource } from './transfer/upload-source.ts';
import type { RefUri } from './uri.ts';

export type Resolution = components['schemas']['Resolution'];
type Take = Resolution['take'];

export interface ResolveFlags {
  readonly resolve?: readonly string[];
  readonly resolveWith?: readonly string[];
  readonly resolutions?: string;
}

const takes: ReadonlyMap<string, Take> = new Map([
  ['source', 'source'],
  ['theirs', 'source'],
  ['destination', 'destination'],
  ['ours', 'destination'],
  ['base', 'base'],
  ['delete', 'delete'],
  ['append', 'append'],
  ['fail', 'fail'],
]);

const repeated = (value: string, previous: readonly string[] | undefined): string[] => [
  ...(previous ?? []),
  value,
];

export function withResolveFlags(command: Command): Command {
  return command
    .option(
      '--resolve <take:selector>',
      'settle conflicts: source, destination, base, delete, append (merges of Iceberg tables) or fail, then path:<path>, prefix:<prefix>, glob:<glob> or table:<name>; repeatable, the first that matches',
      repeated,
    )
    .option('--resolve-with <path=file>', 'settle the conflict of a path with a file, repeatable', repeated)
    .option('--resolutions <file>', 'resolutions, one JSON object a line; - is standard input');
}

/** Whether any flag asks for a resolution. */
export function resolves(flags: ResolveFlags): boolean {
  return flags.resolve !== undefined || flags.resolveWith !== undefined || flags.resolutions !== undefined;
}

/** What is asked of a server that may be too old for it. */
export async function checkResolves({ client }: CommandContext): Promise<void> {
  const { capabilities_config: capabilities } = await client.get('/config');
  if (capabilities?.merge_resolutions !== true) {
    throw new CliError('this server settles no conflicts by resolutions: nothing was sent');
  }
}

/** All resolutions that the flags name; files are sent first. */
export async function readResolutions(
  context: CommandContext,
  flags: ResolveFlags,
  destination: RefUri,
): Promise<Resolution[]> {
  const given = (flags.resolve ?? []).map(parseResolve);
  const files = (flags.resolveWith ?? []).map(parseResolveWith);
  const listed = flags.resolutions === undefined ? [] : await readLines(flags.resolutions);
  const sent: Resolution[] = [];
  for (const { path, file } of files) {
    const { size } = await stat(file).catch((error: Error) => {
      throw new CliError(`cannot read ${file}: ${error.message}`, { cause: error });
    });
    const object = await uploadScratch(context.transport, {
      repository: destination.repository,
      branch: destination.ref,
      path,
      piece: await fileSource(file, size).read(0, size),
    });
    sent.push({ path, take: 'object', object });
  }
  return [...listed, ...sent, ...given];
}

export function parseResolve(text: string): Resolution {
  const [, name = '', selector = '', value = ''] =
    /^([^:]*):(path|prefix|glob|table):(.*)$/s.exec(text) ?? [];
  const take = takes.get(name);
  if (take === undefined) {
    throw new UsageError(
      `--resolve "${text}" is not <take>:<selector>, such as source:prefix:tables/ (takes: ${[...takes.keys()].join(', ')}; selectors: path:, prefix:, glob:, table:)`,
    );
  }
  if (selector === 'table') return { path: tablePath(value), take };
  if (take === 'append' && selector !== 'path') {
    throw new UsageError(`--resolve "${text}": append needs a table: append:table:<namespace>.<name>`);
  }
  return { [selector]: value, take };
}

/** Where the catalog of Iceberg tables keeps what is in conflict. */
function tablePath(table: string): string {
  const levels = table.split('.');
  const name = levels.pop() ?? '';
  return [...levels, '_iceberg', 'tables', `${name}.json`].join('/');
}

function parseResolveWith(text: string): { readonly path: string; readonly file: string } {
  const at = text.lastIndexOf('=');
  if (at < 1 || at === text.length - 1) {
    throw new UsageError(`--resolve-with "${text}" is not <path>=<file>`);
  }
  return { path: text.slice(0, at), file: text.slice(at + 1) };
}

/** Lines as `conflicts --json-lines` writes them, with a `take` added; lines without one are passed over. */
async function readLines(file: string): Promise<Resolution[]> {
  const lines = (await readInput(file)).toString().split('\n');
  const resolutions: Resolution[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const wrong = (why: string): UsageError => new UsageError(`${file}, line ${index + 1}: ${why}`);
    let parsed: Partial<Resolution>;
    try {
      parsed = JSON.parse(line) as Partial<Resolution>;
    } catch (error) {
      throw wrong((error as Error).message);
    }
    if (parsed.take === undefined) continue;
    const take = takes.get(parsed.take) ?? (parsed.take === 'object' ? 'object' : undefined);
    if (take === undefined) throw wrong(`take "${parsed.take}" is none of ${[...takes.keys()].join(', ')}`);
    const { path, prefix, glob, conflict_id, object } = parsed;
    resolutions.push({
      ...(path !== undefined && { path }),
      ...(prefix !== undefined && { prefix }),
      ...(glob !== undefined && { glob }),
      take,
      ...(conflict_id !== undefined && { conflict_id }),
      ...(object !== undefined && { object }),
    });
  }
  return resolutions;
}

/** Resolutions of a cherry-pick or revert, with its commit and the head of the branch pinned. */
export async function changeSteering(
  context: CommandContext,
  flags: ResolveFlags,
  commit: RefUri,
  branch: RefUri,
): Promise<{ ref: string; expected_destination: string; resolutions: Resolution[] }> {
  const { client } = context;
  const { repository } = branch;
  await checkResolves(context);
  const { id: ref } = await client.get('/repositories/{repository}/commits/{commitId}', {
    params: { path: { repository, commitId: commit.ref } },
  });
  const { commit_id } = await client.get('/repositories/{repository}/branches/{branch}', {
    params: { path: { repository, branch: branch.ref } },
  });
  const resolutions = await readResolutions(context, flags, branch);
  return { ref, expected_destination: commit_id, resolutions };
}

/** `source 1, delete 1` */
export function countsText(resolved: components['schemas']['TakeCounts']): string {
  return Object.entries(resolved)
    .map(([take, count]) => `${take} ${count}`)
    .join(', ');
}
