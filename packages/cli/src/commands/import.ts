import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type components } from '@svc/client';
import type { Command } from 'commander';
import { cancellable } from '../cancel.ts';
import { action, type CommandContext } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { collectList, parsePairs } from '../list-flag.ts';
import { formatDate } from '../output/format.ts';
import { ProgressLine } from '../output/progress-line.ts';
import type { Output } from '../output/output.ts';
import { storageConfigOf } from '../presign.ts';
import type { PathUri } from '../uri.ts';
import { booleanOption } from './boolean-option.ts';

type ImportStatus = components['schemas']['ImportStatus'];

interface ImportFlags {
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly type: string;
  readonly message?: string;
  readonly meta?: readonly string[];
  readonly allowEmptyMessage: boolean;
  readonly progress: boolean;
  readonly merge?: string;
}

const firstPollMs = 1000;
const pollMs = 5000;
const maxUnmoved = 5;

export function register(program: Command): void {
  program
    .command('import')
    .description('link objects that are in an object store already into a branch, without copying them')
    .requiredOption('--from <store URI>', 'where the objects are, repeatable in pairs with --to', repeat)
    .requiredOption('--to <path URI>', 'where they appear', repeat)
    .option('--type <kind>', 'common_prefix for everything below, object for one object', 'common_prefix')
    .option('-m, --message <text>', 'commit message')
    .option('--meta <key=value>', 'metadata, repeatable', collectList)
    .addOption(booleanOption('--allow-empty-message', 'allow an empty message'))
    .option('--no-progress', 'do not show progress')
    .addOption(
      program.createOption('--merge [value]', 'deprecated: imports are committed at once').hideHelp(),
    )
    .addHelpText('after', '\nExample:\n  svcctl import --from s3://raw/2026/ --to svc://my-repo/main/raw/')
    .action(action<[], ImportFlags>((context, _args, flags) => runImport(context, flags)));
}

/** Not split at commas: keys may hold them. */
function repeat(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

async function runImport(context: CommandContext, flags: ImportFlags): Promise<void> {
  const { client, out } = context;
  if (flags.merge !== undefined) out.warning('--merge is deprecated and ignored');
  if (flags.type !== 'common_prefix' && flags.type !== 'object') {
    throw new UsageError('--type must be common_prefix or object');
  }
  const kind: 'common_prefix' | 'object' = flags.type;
  if (flags.from.length !== flags.to.length) throw new UsageError('--from and --to must come in pairs');
  const targets = flags.to.map((text) => context.uris.path(text, 'path URI'));
  const target = oneBranch(targets);
  const metadata = parsePairs(flags.meta);
  if (!flags.allowEmptyMessage && (flags.message ?? '').trim() === '') {
    throw new CliError('an import needs a message: use --message, or --allow-empty-message');
  }
  await checkSources(context, target, flags.from);
  const path = { repository: target.repository, branch: target.ref };
  await client
    .get('/repositories/{repository}/branches/{branch}', { params: { path } })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.isNotFound) {
        throw new CliError(`branch '${target.ref}' does not exist in repository '${target.repository}'`);
      }
      throw error;
    });
  const { id } = await client.post('/repositories/{repository}/branches/{branch}/import', {
    params: { path },
    body: {
      paths: flags.from.map((from, at) => ({
        path: from,
        destination: targets[at]?.path ?? '',
        type: kind,
      })),
      commit: { message: flags.message ?? '', metadata },
    },
  });
  const status = await cancellable('import cancelled', async (signal) => {
    try {
      return await follow(context, path, id, flags.progress, signal);
    } catch (error) {
      if (signal.aborted) {
        // The user wants to leave; an import that cannot be cancelled continues on the server.
        await client
          .delete('/repositories/{repository}/branches/{branch}/import', { params: { path, query: { id } } })
          .catch(() => undefined);
      }
      throw error;
    }
  });
  printResult(out, target, status);
}

function oneBranch(targets: readonly PathUri[]): PathUri {
  const [first, ...others] = targets;
  if (first === undefined) throw new UsageError('--to is missing');
  if (others.some((uri) => uri.repository !== first.repository || uri.ref !== first.ref)) {
    throw new UsageError('every --to must be on the same branch');
  }
  return first;
}

/** Sources the server's storage cannot reach are refused before anything starts. */
async function checkSources(
  context: CommandContext,
  target: PathUri,
  sources: readonly string[],
): Promise<void> {
  const { import_validity_regex: pattern } = await storageConfigOf(context, target.repository);
  for (const source of sources) {
    const tested = source.replace('adls.core.windows.net', 'blob.core.windows.net');
    if (tested !== source) context.out.warning(`${source} is imported as ${tested}`);
    if (pattern !== '' && !new RegExp(pattern).test(tested)) {
      throw new CliError(`import source ${source} does not match what the server can import: ${pattern}`);
    }
  }
}

async function follow(
  { client }: CommandContext,
  path: { repository: string; branch: string },
  id: string,
  progress: boolean,
  signal: AbortSignal,
): Promise<ImportStatus> {
  const line = new ProgressLine(progress);
  const started = Date.now();
  let lastUpdate = '';
  let unmoved = 0;
  try {
    for (let wait = firstPollMs; ; wait = pollMs) {
      await pause(wait, undefined, { signal });
      const status = await client.get('/repositories/{repository}/branches/{branch}/import', {
        params: { path, query: { id } },
      });
      const objects = status.ingested_objects ?? 0;
      const rate = Math.round(objects / Math.max(0.001, (Date.now() - started) / 1000));
      line.show(`${objects} objects imported (${rate}/s)`);
      if (status.error !== undefined) throw new CliError(`import failed: ${status.error.message}`);
      if (status.completed) return status;
      // Count consecutive polls only: a slow import that moves is alive.
      unmoved = status.update_time === lastUpdate ? unmoved + 1 : 0;
      lastUpdate = status.update_time;
      if (unmoved >= maxUnmoved)
        throw new CliError('the import made no progress for a while: gave up waiting for it');
    }
  } finally {
    line.stop();
  }
}

function printResult(out: Output, target: PathUri, status: ImportStatus): void {
  if (out.json) {
    out.document(status);
    return;
  }
  const { commit } = status;
  out.line(
    `Imported ${out.paint(String(status.ingested_objects ?? 0), 'yellow')} objects into branch '${target.ref}'.`,
  );
  out.line(`MetaRange ID: ${out.paint(status.metarange_id ?? '', 'yellow')}`);
  if (commit === undefined) return;
  out.line(`Commit ID: ${out.paint(commit.id, 'yellow')}`);
  out.line(`Message: ${commit.message}`);
  out.line(`Timestamp: ${formatDate(commit.creation_date)}`);
  out.line(`Parents: ${commit.parents.join(', ')}`);
}
