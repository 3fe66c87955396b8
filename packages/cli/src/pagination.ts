import type { Command } from 'commander';
import type { CommandContext } from './context.ts';
import { wholeNumber } from './list-flag.ts';

/** The largest page the server returns. */
export const maxPage = 1000;

export interface PageFlags {
  readonly amount: number;
  readonly after: string;
  readonly prefix: string;
}

/** `--amount`, `--after` and `--prefix` of every list command. */
export function withPageFlags(command: Command): Command {
  return command
    .option('--amount <n>', 'how many results to return', wholeNumber, 100)
    .option('--after <value>', 'show results after this value', '')
    .option('--prefix <value>', 'only results that start with this', '');
}

interface Pagination {
  has_more: boolean;
  next_offset: string;
}

interface PageAnswer<Item> {
  readonly results: readonly Item[];
  readonly pagination: Pagination;
}

/** Fetches `amount` results, by several requests when one page is too small. */
export async function fetchPages<Item>(
  flags: PageFlags,
  fetchPage: (query: { amount: number; after: string; prefix: string }) => Promise<PageAnswer<Item>>,
): Promise<{ results: Item[]; pagination: Pagination }> {
  const results: Item[] = [];
  let after = flags.after;
  for (;;) {
    const wanted = flags.amount <= 0 ? 100 : flags.amount - results.length;
    const page = await fetchPage({ amount: Math.min(wanted, maxPage), after, prefix: flags.prefix });
    results.push(...page.results);
    const done = !page.pagination.has_more || flags.amount <= 0 || results.length >= flags.amount;
    if (done) return { results, pagination: page.pagination };
    after = page.pagination.next_offset;
  }
}

/** The table of a list command, or the API objects as JSON. */
export async function printPages<Item>(
  context: CommandContext,
  flags: PageFlags,
  list: {
    readonly headers: readonly string[];
    readonly row: (item: Item) => readonly string[];
    readonly fetchPage: (query: {
      amount: number;
      after: string;
      prefix: string;
    }) => Promise<PageAnswer<Item>>;
  },
): Promise<void> {
  const { results, pagination } = await fetchPages(flags, list.fetchPage);
  if (context.out.json) {
    context.out.document({ pagination, results });
    return;
  }
  context.out.table(list.headers, results.map(list.row));
  context.out.paginationHint(flags.amount, pagination);
  context.out.line();
}
