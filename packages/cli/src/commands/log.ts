import type { Calls } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { UsageError } from '../errors.ts';
import { collectList, wholeNumber } from '../list-flag.ts';
import { printCommitEntry, type Commit } from '../output/commit-blocks.ts';
import { maxPage } from '../pagination.ts';
import { pinTime } from '../pin-time.ts';
import type { RefUri } from '../uri.ts';

interface LogFlags {
  readonly after: string;
  readonly amount: number;
  readonly dot?: boolean;
  readonly firstParent?: boolean;
  readonly limit?: boolean;
  readonly merges: boolean;
  readonly objects?: readonly string[];
  readonly prefixes?: readonly string[];
  readonly showMetaRangeId?: boolean;
  readonly since?: string;
  readonly stopAt?: string;
}

export function register(program: Command): void {
  program
    .command('log')
    .description('show the commits that led to a ref, newest first')
    .argument('<ref URI>')
    .option('--after <ref>', 'continue after this commit', '')
    .option('--amount <n>', 'how many commits to show, 0 for all', wholeNumber, 0)
    .option('--dot', 'print the history as a Graphviz graph')
    .option('--first-parent', 'follow only the first parent of merges')
    .option('--limit', 'stop after the amount without looking for more')
    .option('--no-merges', 'leave merge commits out')
    .option('--objects <paths>', 'only commits that changed one of these objects', collectList)
    .option('--prefixes <prefixes>', 'only commits that changed something under one of these', collectList)
    .option('--show-meta-range-id', 'also show the id of each tree')
    .option('--since <time>', 'only commits since this time (RFC 3339)')
    .option('--stop-at <ref>', 'the last commit to show')
    .addHelpText(
      'after',
      '\nExamples:\n  svcctl log svc://my-repo/main --amount 5\n  svcctl log svc://my-repo/main --prefixes tables/prices/ --since 2026-01-01T00:00:00Z',
    )
    .action(
      action<[string], LogFlags>(async (context, [uriText], flags) => {
        const { out } = context;
        const uri = await pinTime(context.client, context.uris.ref(uriText, 'ref URI'));
        const filters = checkedFilters(flags);
        if (flags.dot === true) {
          await printGraph(context.endpoint, context.client, uri, flags, filters, (line) => {
            out.line(line);
          });
          return;
        }
        const shown: Commit[] = [];
        let hint: Pagination | undefined;
        for await (const { commit, pagination } of walkLog(context.client, uri, flags, filters)) {
          hint = pagination;
          if (out.json) shown.push(commit);
          else
            printCommitEntry(out, commit, {
              metaRangeId: flags.showMetaRangeId === true,
              between: true,
            });
        }
        if (out.json) {
          out.document(shown);
          return;
        }
        out.line();
        if (hint !== undefined) out.paginationHint(flags.amount, hint);
      }),
    );
}

interface Filters {
  readonly objects?: string[];
  readonly prefixes?: string[];
}

interface Pagination {
  has_more: boolean;
  next_offset: string;
}

function checkedFilters(flags: LogFlags): Filters {
  if (flags.since !== undefined && !isRfc3339(flags.since)) {
    throw new UsageError(`--since "${flags.since}" is not an RFC 3339 time such as 2026-01-31T12:00:00Z`);
  }
  return {
    ...checkedList('objects', flags.objects),
    ...checkedList('prefixes', flags.prefixes),
  };
}

function checkedList(name: 'objects' | 'prefixes', values: readonly string[] | undefined): Filters {
  if (values === undefined || (values.length === 1 && values[0] === '')) return {};
  if (values.includes('')) throw new UsageError(`--${name} holds an empty value`);
  return { [name]: [...values] };
}

function isRfc3339(text: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text))
  );
}

/** Commits after filtering, exactly `amount` of them when the history has that many. */
async function* walkLog(
  client: Calls,
  uri: RefUri,
  flags: LogFlags,
  filters: Filters,
): AsyncGenerator<{ commit: Commit; pagination: Pagination }> {
  let after = flags.after;
  let left = flags.amount > 0 ? flags.amount : Number.POSITIVE_INFINITY;
  for (;;) {
    const amount = Math.min(flags.merges ? left : maxPage, maxPage);
    const { results, pagination } = await client.get('/repositories/{repository}/refs/{ref}/commits', {
      params: {
        path: { repository: uri.repository, ref: uri.ref },
        query: {
          amount,
          ...(after !== '' && { after }),
          ...filters,
          ...(flags.limit === true && { limit: true }),
          ...(flags.firstParent === true && { first_parent: true }),
          ...(flags.since !== undefined && { since: flags.since }),
          ...(flags.stopAt !== undefined && { stop_at: flags.stopAt }),
        },
      },
    });
    for (const commit of results) {
      if (!flags.merges && commit.parents.length > 1) continue;
      yield { commit, pagination };
      left -= 1;
      if (left === 0) return;
    }
    if (!pagination.has_more) return;
    after = pagination.next_offset;
  }
}

async function printGraph(
  endpoint: string,
  client: Calls,
  uri: RefUri,
  flags: LogFlags,
  filters: Filters,
  line: (text: string) => void,
): Promise<void> {
  line('digraph {');
  line('rankdir="BT"');
  for await (const { commit } of walkLog(client, uri, flags, filters)) {
    const text = `${commit.id.slice(0, 8)}<br/> ${escapeHtml(commit.message)}`;
    const label = commit.parents.length > 1 ? `<b>${text}</b>` : text;
    const href = `${endpoint}/repositories/${uri.repository}/commits/${commit.id}`;
    line('');
    line(`"${commit.id}" [shape=note target="_blank" href="${href}" label=< ${label} >]`);
    for (const parent of commit.parents) line(`"${parent}" -> "${commit.id}";`);
  }
  line('');
  line('}');
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
