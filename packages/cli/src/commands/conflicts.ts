import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { positiveNumber } from '../list-flag.ts';
import { humanSize } from '../output/format.ts';
import { maxPage } from '../pagination.ts';
import type { RefUri } from '../uri.ts';

type Conflict = components['schemas']['Conflict'];
type Entry = components['schemas']['ConflictEntry'];

interface ConflictsFlags {
  readonly prefix?: string;
  readonly amount?: number;
  readonly jsonLines?: boolean;
}

export function register(program: Command): void {
  program
    .command('conflicts')
    .description('list what stops a merge: paths that both sides changed')
    .argument('<source ref URI>')
    .argument('<destination branch URI>')
    .option('--prefix <prefix>', 'only paths under this prefix')
    .option('--amount <n>', 'so many at most', positiveNumber)
    .option('--json-lines', 'one JSON object a line, as "merge --resolutions" reads them')
    .addHelpText(
      'after',
      `
Examples:
  svcctl conflicts svc://my-repo/dev svc://my-repo/main
  svcctl conflicts svc://my-repo/dev svc://my-repo/main --json-lines > conflicts   then add a "take" to lines`,
    )
    .action(
      action<[string, string], ConflictsFlags>(async (context, [sourceText, destinationText], flags) => {
        const { out, uris } = context;
        const source = uris.ref(sourceText, 'source ref URI');
        const destination = uris.branch(destinationText, 'destination branch URI');
        if (source.repository !== destination.repository) {
          throw new CliError('both references must belong to the same repository');
        }
        let shown = 0;
        const all: Conflict[] = [];
        for await (const conflict of listConflicts(context, source, destination, flags.prefix)) {
          if (shown === flags.amount) break;
          shown += 1;
          if (flags.jsonLines === true) out.line(JSON.stringify(conflict));
          else if (out.json) all.push(conflict);
          else out.line(conflictLine(conflict));
        }
        if (flags.jsonLines === true) return;
        if (out.json) out.document({ results: all });
        else out.info(shown === 1 ? '1 conflict' : `${shown} conflicts`);
      }),
    );
}

async function* listConflicts(
  { client }: CommandContext,
  source: RefUri,
  destination: RefUri,
  prefix: string | undefined,
): AsyncGenerator<Conflict> {
  for (let after = ''; ;) {
    const page = await client.get(
      '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}/conflicts',
      {
        params: {
          path: {
            repository: source.repository,
            sourceRef: source.ref,
            destinationBranch: destination.ref,
          },
          query: { after, amount: maxPage, ...(prefix !== undefined && { prefix }) },
        },
      },
    );
    yield* page.results;
    if (!page.pagination.has_more) return;
    after = page.pagination.next_offset;
  }
}

/** Sizes are those of base, source and destination. */
export function conflictLine({ kind, path, table, base, source, destination }: Conflict): string {
  const named = table === undefined ? '' : `  (table ${table})`;
  return `${kind.padEnd(19)}  ${path}  ${sizeOf(base)} -> ${sizeOf(source)} | ${sizeOf(destination)}${named}`;
}

function sizeOf(entry: Entry | undefined): string {
  return entry === undefined ? '-' : humanSize(entry.size_bytes);
}
