import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { maxPage } from '../pagination.ts';
import { pinTime } from '../pin-time.ts';
import { formatUri } from '../uri.ts';

type Change = components['schemas']['Diff'];

const firstPage = 50;

interface DiffFlags {
  readonly prefix?: string;
  readonly twoWay?: boolean;
}

export function register(program: Command): void {
  program
    .command('diff')
    .description('show uncommitted changes of a branch, or the changes between two refs')
    .argument('<ref URI>')
    .argument('[ref URI]')
    .option('--prefix <prefix>', 'only changes under this prefix')
    .option('--two-way', 'compare the two refs directly instead of from their common ancestor')
    .addHelpText(
      'after',
      `
Examples:
  svcctl diff svc://my-repo/dev                        uncommitted changes on dev
  svcctl diff svc://my-repo/main svc://my-repo/dev     what merging dev into main would change
  svcctl diff svc://my-repo/main 'svc://my-repo/dev$'  the same with dev's uncommitted changes`,
    )
    .action(
      action<[string, string | undefined], DiffFlags>(async (context, [leftText, rightText], flags) => {
        const { out, uris } = context;
        if (rightText === undefined) {
          const uri = uris.branch(leftText, 'branch URI');
          out.info(`Ref: ${formatUri(uri)}`);
          await printDiff(context, (query) =>
            context.client.get('/repositories/{repository}/branches/{branch}/diff', {
              params: {
                path: { repository: uri.repository, branch: uri.ref },
                query: { ...query, ...(flags.prefix !== undefined && { prefix: flags.prefix }) },
              },
            }),
          );
          return;
        }
        const left = uris.ref(leftText, 'left ref URI');
        const right = uris.ref(rightText, 'right ref URI');
        out.info(`Left ref: ${formatUri(left)}`);
        out.info(`Right ref: ${formatUri(right)}`);
        if (left.repository !== right.repository) {
          throw new CliError('both references must belong to the same repository');
        }
        const leftRef = (await pinTime(context.client, left)).ref;
        const rightRef = (await pinTime(context.client, right)).ref;
        await printDiff(context, (query) =>
          context.client.get('/repositories/{repository}/refs/{leftRef}/diff/{rightRef}', {
            params: {
              path: { repository: left.repository, leftRef, rightRef },
              query: {
                ...query,
                ...(flags.prefix !== undefined && { prefix: flags.prefix }),
                type: flags.twoWay === true ? 'two_dot' : 'three_dot',
              },
            },
          }),
        );
      }),
    );
}

interface DiffPage {
  readonly results: readonly Change[];
  readonly pagination: { readonly has_more: boolean; readonly next_offset: string };
}

async function printDiff(
  { out }: CommandContext,
  fetchPage: (query: { amount: number; after: string }) => Promise<DiffPage>,
): Promise<void> {
  const all: Change[] = [];
  let after = '';
  // Small first page: the first lines appear at once.
  for (let amount = firstPage; ; amount = Math.min(amount * 2, maxPage)) {
    const page = await fetchPage({ amount, after });
    if (out.json) all.push(...page.results);
    else for (const change of page.results) out.write(changeLine(out.terminal, change));
    if (!page.pagination.has_more) break;
    after = page.pagination.next_offset;
  }
  if (out.json) out.document(all);
}

const marks: Record<string, { readonly mark: string; readonly word: string; readonly code: number }> = {
  added: { mark: '+', word: 'added', code: 32 },
  removed: { mark: '-', word: 'removed', code: 31 },
  changed: { mark: '~', word: 'modified', code: 33 },
  modified: { mark: '~', word: 'modified', code: 33 },
  conflict: { mark: '*', word: 'conflict', code: 93 },
};

/** One line per path; on a terminal the colour ends after the newline. */
export function changeLine(terminal: boolean, change: Pick<Change, 'type' | 'path'>): string {
  const { mark, word, code } = marks[change.type] ?? { mark: '?', word: change.type, code: 0 };
  const line = `${mark} ${word} ${change.path}\n`;
  return terminal ? `\u001B[${code}m${line}\u001B[0m` : line;
}
