import { ApiError, type components } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { collectList, parsePairs } from '../list-flag.ts';
import {
  checkResolves,
  countsText,
  readResolutions,
  resolves,
  type ResolveFlags,
  withResolveFlags,
} from '../resolve-flags.ts';
import { booleanOption } from './boolean-option.ts';
import { conflictLine } from './conflicts.ts';
import { formatUri, type RefUri } from '../uri.ts';

interface MergeFlags extends ResolveFlags {
  readonly allowEmpty?: boolean;
  readonly allowEmptyMessage: boolean;
  readonly dryRun?: boolean;
  readonly expectDestination?: string;
  readonly expectSource?: string;
  readonly force?: boolean;
  readonly message?: string;
  readonly meta?: readonly string[];
  readonly squash?: boolean;
  readonly strategy?: string;
}

type MergeBody = components['schemas']['Merge'];

const strategies = ['dest-wins', 'source-wins'];
const shownConflicts = 100;

export function register(program: Command): void {
  const merge = program
    .command('merge')
    .description('merge a ref into a branch, all or nothing')
    .argument('<source ref URI>')
    .argument('<destination branch URI>')
    .option('--allow-empty', 'commit even when nothing changes')
    .addOption(booleanOption('--allow-empty-message', 'allow an empty message'))
    .option('--dry-run', 'say what would happen, and change nothing; fails when conflicts are left')
    .option('--expect-destination <commit>', 'refuse when the branch stands elsewhere')
    .option('--expect-source <commit>', 'refuse when the source stands for another commit')
    .option('--force', 'merge into a read-only repository')
    .option('-m, --message <text>', 'commit message')
    .option('--meta <key=value>', 'metadata, repeatable', collectList);
  withResolveFlags(merge)
    .option('--squash', 'make a commit with one parent')
    .option(
      '--strategy <name>',
      'who wins conflicts that no resolution settles: dest-wins or source-wins; without it they stop the merge',
    )
    .addHelpText(
      'after',
      `
Examples:
  svcctl merge svc://my-repo/dev svc://my-repo/main -m "Release of May"
  svcctl merge svc://my-repo/dev svc://my-repo/main -m "Release of May" --resolve source:prefix:tables/ \\
    --resolve delete:path:raw/old.csv --resolve-with notes.md=merged-notes.md
  svcctl merge svc://my-repo/dev svc://my-repo/main -m "Orders of May" --resolve append:table:sales.orders`,
    )
    .action(
      action<[string, string], MergeFlags>(async (context, [sourceText, destinationText], flags) => {
        const { client, out, uris } = context;
        const source = uris.ref(sourceText, 'source ref URI');
        const destination = uris.branch(destinationText, 'destination branch URI');
        checkFlags(flags);
        if (source.repository !== destination.repository) {
          throw new CliError('both references must belong to the same repository');
        }
        out.info(`Source: ${formatUri(source)}`);
        out.info(`Destination: ${formatUri(destination)}`);
        const path = {
          repository: source.repository,
          sourceRef: source.ref,
          destinationBranch: destination.ref,
        };
        const body: MergeBody = {
          ...(flags.message !== undefined && { message: flags.message }),
          metadata: parsePairs(flags.meta),
          ...(flags.strategy !== undefined && { strategy: flags.strategy }),
          force: flags.force === true,
          allow_empty: flags.allowEmpty === true,
          squash_merge: flags.squash === true,
          ...(await steering(context, flags, source, destination)),
        };
        if (flags.dryRun === true) {
          await dryRun(context, path, body);
          return;
        }
        try {
          const result = await client.post(
            '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
            { params: { path }, body },
          );
          if (out.json) {
            out.document(result);
            return;
          }
          const { resolved } = result;
          if (resolved !== undefined) {
            const settled = Object.values(resolved).reduce((sum, count) => sum + count, 0);
            out.line(`Resolved ${settled} conflicts: ${countsText(resolved)}`);
          }
          out.line(
            `Merged "${out.paint(source.ref, 'yellow')}" into "${out.paint(destination.ref, 'yellow')}" to get "${out.paint(result.reference, 'green')}".`,
          );
        } catch (error) {
          if (error instanceof ApiError && error.isConflict)
            await explainConflict(context, source, destination, error);
          throw error;
        }
      }),
    );
}

function checkFlags(flags: MergeFlags): void {
  if (flags.strategy !== undefined && !strategies.includes(flags.strategy)) {
    throw new UsageError(`--strategy "${flags.strategy}" is not one of ${strategies.join(', ')}`);
  }
  if (flags.dryRun !== true && !flags.allowEmptyMessage && (flags.message ?? '').trim() === '') {
    throw new CliError('a merge needs a message: use --message, or --allow-empty-message');
  }
}

/** Resolutions are for what is there now: without pins of the user's own, the heads are pinned before files are sent. */
async function steering(
  context: CommandContext,
  flags: MergeFlags,
  source: RefUri,
  destination: RefUri,
): Promise<Pick<MergeBody, 'expected_source' | 'expected_destination' | 'resolutions'>> {
  const { expectSource, expectDestination } = flags;
  const isSteered = resolves(flags) || expectSource !== undefined || expectDestination !== undefined;
  if (isSteered || flags.dryRun === true) await checkResolves(context);
  if (!isSteered) return {};
  const pins = {
    ...(expectSource !== undefined && { expected_source: expectSource }),
    ...(expectDestination !== undefined && { expected_destination: expectDestination }),
  };
  if (!resolves(flags)) return pins;
  const found = await context.client.get(
    '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
    {
      params: {
        path: { repository: source.repository, sourceRef: source.ref, destinationBranch: destination.ref },
      },
    },
  );
  const resolutions = await readResolutions(context, flags, destination);
  return {
    expected_source: found.source_commit_id,
    expected_destination: found.destination_commit_id,
    ...pins,
    resolutions,
  };
}

/** Adds up the pages of a preview; the exit code says whether a merge would get through. */
async function dryRun(
  { client, out }: CommandContext,
  path: { readonly repository: string; readonly sourceRef: string; readonly destinationBranch: string },
  body: MergeBody,
): Promise<void> {
  const sums = { added: 0, changed: 0, removed: 0, conflicts: 0, unresolved: 0 };
  let outcome = '';
  for (let after = ''; ;) {
    const page = await client.post(
      '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/preview',
      { params: { path, query: { after } }, body },
    );
    sums.added += page.added.objects;
    sums.changed += page.changed.objects;
    sums.removed += page.removed.objects;
    sums.conflicts += page.conflicts.total;
    sums.unresolved += page.conflicts.unresolved;
    outcome = page.outcome;
    if (!out.json) for (const conflict of page.results) out.line(conflictLine(conflict));
    if (!page.pagination.has_more) break;
    after = page.pagination.next_offset;
  }
  if (out.json) out.document({ ...sums, outcome });
  else {
    out.line(
      `Would merge: +${sums.added} ~${sums.changed} -${sums.removed}, conflicts ${sums.conflicts} (unresolved ${sums.unresolved})`,
    );
  }
  if (outcome === 'dirty') throw new CliError('the destination has uncommitted changes');
  if (sums.unresolved > 0) throw new CliError('conflicts are left: settle them with --resolve');
}

/** Lists what is in conflict, so that nobody has to search for it. */
async function explainConflict(
  { client, out }: CommandContext,
  source: RefUri,
  destination: RefUri,
  { message }: ApiError,
): Promise<never> {
  const paths: string[] = [];
  let after = '';
  while (paths.length <= shownConflicts) {
    // The conflict is the error to report, even when its paths cannot be read.
    const page = await client
      .get('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
        params: {
          path: { repository: source.repository, leftRef: destination.ref, rightRef: source.ref },
          query: { amount: 1000, after, type: 'three_dot' },
        },
      })
      .catch(() => undefined);
    if (page === undefined) break;
    for (const change of page.results) if (change.type === 'conflict') paths.push(change.path);
    if (!page.pagination.has_more) break;
    after = page.pagination.next_offset;
  }
  const listed = paths.slice(0, shownConflicts).map((path) => `\n* conflict ${path}`);
  const more = paths.length > shownConflicts ? '\n…' : '';
  out.errorLine(out.paint('Conflict found.', 'red'));
  // The server names tables, which nobody knows by their paths.
  const [, tables] = /^conflict found: (.*table.*)$/s.exec(message) ?? [];
  const hint =
    tables === undefined ? '' : `\n${tables}; where both only appended: --resolve append:table:<name>`;
  throw new CliError(`${listed.join('').slice(1)}${more}${hint}`);
}
