import type { Command } from 'commander';
import { action } from '../context.ts';
import { collectList, wholeNumber } from '../list-flag.ts';
import { formatDate } from '../output/format.ts';
import { printPages } from '../pagination.ts';

interface ReflogFlags {
  readonly amount: number;
  readonly after: string;
  readonly kind?: readonly string[];
  readonly user?: string;
  readonly since?: string;
  readonly until?: string;
  readonly tags?: boolean;
  readonly showHidden?: boolean;
}

const shortId = 12;

export function register(program: Command): void {
  program
    .command('reflog')
    .description('show what moved branches and tags, newest first, also deleted ones')
    .argument('<repository URI | ref URI>')
    .option('--kind <kinds>', 'only moves of these kinds: create, commit, merge, delete, …', collectList)
    .option('--user <user>', 'only moves by this user')
    .option('--since <time>', 'only moves since this time (RFC 3339)')
    .option('--until <time>', 'only moves until this time (RFC 3339)')
    .option('--tags', 'only moves of tags')
    .option('--show-hidden', 'also moves of hidden branches')
    .option('--amount <n>', 'how many moves to show', wholeNumber, 100)
    .option('--after <move>', 'show moves before this one', '')
    .addHelpText(
      'after',
      '\nExamples:\n  svcctl reflog svc://my-repo/main --amount 5\n  svcctl reflog svc://my-repo --kind delete',
    )
    .action(
      action<[string], ReflogFlags>((context, [uriText], flags) => {
        const { repository, ref } = context.uris.any(uriText, 'repository or ref URI');
        const filters = {
          ...(ref === undefined || ref === '' ? {} : { ref }),
          ...(flags.tags === true ? { ref_type: 'tag' as const } : {}),
          ...(flags.kind === undefined ? {} : { kind: [...flags.kind] }),
          ...(flags.user === undefined ? {} : { user: flags.user }),
          ...(flags.since === undefined ? {} : { since: flags.since }),
          ...(flags.until === undefined ? {} : { until: flags.until }),
          ...(flags.showHidden === true ? { show_hidden: true } : {}),
        };
        return printPages(
          context,
          { amount: flags.amount, after: flags.after, prefix: '' },
          {
            headers: ['Move', 'Time', 'Kind', 'Ref', 'From', 'To', 'User', 'Source'],
            fetchPage: ({ after, amount }) =>
              context.client.get('/repositories/{repository}/reflog', {
                params: { path: { repository }, query: { after, amount, ...filters } },
              }),
            row: (move) => [
              move.id,
              formatDate(Math.floor(Date.parse(move.time) / 1000)),
              move.kind,
              move.ref_id,
              move.old_commit_id?.slice(0, shortId) ?? '',
              move.new_commit_id?.slice(0, shortId) ?? '',
              move.user,
              move.source ?? '',
            ],
          },
        );
      }),
    );
}
