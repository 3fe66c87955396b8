import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { formatDate } from '../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { formatUri, type RefUri } from '../uri.ts';

interface UndeleteFlags {
  readonly as?: string;
  readonly move?: string;
}

const shortId = 12;

export function register(program: Command): void {
  const undelete = program.command('undelete').description('bring deleted branches and tags back');

  for (const type of ['branch', 'tag'] as const) {
    undelete
      .command(type)
      .description(`bring a deleted ${type} back, where it pointed last`)
      .argument(`<${type} URI>`)
      .option('--as <name>', 'bring it back under another name')
      .option('--move <id>', 'which of its deletions, as "svcctl reflog" shows it; the last one if absent')
      .addHelpText(
        'after',
        `\nExample:\n  svcctl undelete ${type} svc://my-repo/${type === 'branch' ? 'dev' : 'v1.0'}`,
      )
      .action(
        action<[string], UndeleteFlags>(async (context, [uriText], flags) => {
          const uri =
            type === 'branch'
              ? context.uris.branch(uriText, 'branch URI')
              : context.uris.ref(uriText, 'tag URI');
          await bringBack(context, type, uri, flags);
        }),
      );
  }

  withPageFlags(
    undelete
      .command('list')
      .description('list deleted branches and tags that can be brought back')
      .argument('<repository URI>'),
  ).action(
    action<[string], PageFlags>((context, [uriText], flags) => {
      const { repository } = context.uris.repository(uriText, 'repository URI');
      return printPages(context, flags, {
        headers: ['Type', 'Name', 'Commit ID', 'Deleted', 'By', 'Restorable until'],
        fetchPage: (query) =>
          context.client.get('/repositories/{repository}/deleted_refs', {
            params: { path: { repository }, query },
          }),
        row: (item) => [
          item.type,
          item.id,
          item.commit_id.slice(0, shortId),
          dateOf(item.deleted_at),
          item.deleted_by,
          dateOf(item.restorable_until),
        ],
      });
    }),
  );
}

async function bringBack(
  { client, out }: CommandContext,
  type: 'branch' | 'tag',
  uri: RefUri,
  flags: UndeleteFlags,
): Promise<void> {
  const { repository, ref: id } = uri;
  out.info(`${type === 'branch' ? 'Branch' : 'Tag'}: ${formatUri(uri)}`);
  const path = { repository };
  const deleted = await client.get('/repositories/{repository}/deleted_refs', {
    params: { path, query: { type, prefix: id, amount: 1, show_hidden: true } },
  });
  const made = await client.post('/repositories/{repository}/undelete', {
    params: { path },
    body: {
      type,
      id,
      ...(flags.as === undefined ? {} : { as: flags.as }),
      ...(flags.move === undefined ? {} : { move_id: flags.move }),
    },
  });
  if (out.json) {
    out.document(made);
    return;
  }
  const grave = deleted.results.find((each) => each.id === id && flags.move === undefined);
  const when =
    grave === undefined ? '' : ` (deleted ${dateOf(grave.deleted_at).slice(0, 10)} by ${grave.deleted_by})`;
  const lost = type === 'branch' ? '; uncommitted changes are not restored' : '';
  out.line(`restored at ${made.commit_id.slice(0, shortId)}${when}${lost}`);
}

function dateOf(time: string): string {
  return formatDate(Math.floor(Date.parse(time) / 1000));
}
