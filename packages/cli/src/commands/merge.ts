import { ApiError } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { collectList, parsePairs } from '../list-flag.ts';
import { booleanOption } from './boolean-option.ts';
import { formatUri, type RefUri } from '../uri.ts';

interface MergeFlags {
  readonly allowEmpty?: boolean;
  readonly allowEmptyMessage: boolean;
  readonly force?: boolean;
  readonly message?: string;
  readonly meta?: readonly string[];
  readonly squash?: boolean;
  readonly strategy?: string;
}

const strategies = ['dest-wins', 'source-wins'];
const shownConflicts = 100;

export function register(program: Command): void {
  program
    .command('merge')
    .description('merge a ref into a branch, all or nothing')
    .argument('<source ref URI>')
    .argument('<destination branch URI>')
    .option('--allow-empty', 'commit even when nothing changes')
    .addOption(booleanOption('--allow-empty-message', 'allow an empty message'))
    .option('--force', 'merge into a read-only repository')
    .option('-m, --message <text>', 'commit message')
    .option('--meta <key=value>', 'metadata, repeatable', collectList)
    .option('--squash', 'make a commit with one parent')
    .option(
      '--strategy <name>',
      'who wins conflicts: dest-wins or source-wins; without it a conflict stops the merge',
    )
    .addHelpText(
      'after',
      '\nExample:\n  svcctl merge svc://my-repo/dev svc://my-repo/main -m "Release of May"',
    )
    .action(
      action<[string, string], MergeFlags>(async (context, [sourceText, destinationText], flags) => {
        const { client, out, uris } = context;
        const source = uris.ref(sourceText, 'source ref URI');
        const destination = uris.branch(destinationText, 'destination branch URI');
        if (flags.strategy !== undefined && !strategies.includes(flags.strategy)) {
          throw new UsageError(`--strategy "${flags.strategy}" is not one of ${strategies.join(', ')}`);
        }
        if (!flags.allowEmptyMessage && (flags.message ?? '').trim() === '') {
          throw new CliError('a merge needs a message: use --message, or --allow-empty-message');
        }
        if (source.repository !== destination.repository) {
          throw new CliError('both references must belong to the same repository');
        }
        out.info(`Source: ${formatUri(source)}`);
        out.info(`Destination: ${formatUri(destination)}`);
        try {
          const result = await client.post(
            '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
            {
              params: {
                path: {
                  repository: source.repository,
                  sourceRef: source.ref,
                  destinationBranch: destination.ref,
                },
              },
              body: {
                ...(flags.message !== undefined && { message: flags.message }),
                metadata: parsePairs(flags.meta),
                ...(flags.strategy !== undefined && { strategy: flags.strategy }),
                force: flags.force === true,
                allow_empty: flags.allowEmpty === true,
                squash_merge: flags.squash === true,
              },
            },
          );
          if (out.json) out.document(result);
          else {
            out.line(
              `Merged "${out.paint(source.ref, 'yellow')}" into "${out.paint(destination.ref, 'yellow')}" to get "${out.paint(result.reference, 'green')}".`,
            );
          }
        } catch (error) {
          if (error instanceof ApiError && error.isConflict)
            await explainConflict(context, source, destination);
          throw error;
        }
      }),
    );
}

/** Lists what is in conflict, so that nobody has to search for it. */
async function explainConflict(
  { client, out }: CommandContext,
  source: RefUri,
  destination: RefUri,
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
  throw new CliError(`${listed.join('').slice(1)}${more}`);
}
