import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { formatDate } from '../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { formatUri, type RefUri } from '../uri.ts';

interface UndeleteFlags {
  readonly as?: string;
  readonly move?: string;
}

const shortId = 12;

export function register(program: Command): void {
  const undelete = program
    .command('undelete')
    .description('bring deleted branches, tags and repositories back');

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

  undelete
    .command('repo')
    .description('bring a deleted repository back with everything it had')
    .argument('<repository URI>')
    .option(
      '--instance <uid>',
      'which of the deleted repositories of this name; the one deleted last if absent',
    )
    .addHelpText('after', '\nExample:\n  svcctl undelete repo svc://my-repo')
    .action(
      action<[string], { instance?: string }>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.repository(uriText, 'repository URI');
        out.info(`Repository: ${formatUri(uri)}`);
        const instance = flags.instance ?? (await findDeleted(client, uri.repository))[0]?.instance;
        if (instance === undefined) throw new CliError(`no deleted repository '${uri.repository}'`);
        const restored = await client.post('/deleted_repositories/{instance}/restore', {
          params: { path: { instance } },
        });
        if (out.json) out.document(restored);
        else out.line(`restored with default branch ${restored.default_branch}`);
      }),
    );

  withPageFlags(
    undelete
      .command('list')
      .description(
        'list deleted branches and tags of a repository, or deleted repositories, that can be brought back',
      )
      .argument('[repository URI]')
      .option('--repos', 'list deleted repositories'),
  ).action(
    action<[string | undefined], PageFlags & { repos?: boolean }>((context, [uriText], flags) => {
      if (flags.repos === true) return listRepositories(context, flags);
      const { repository } = context.uris.repository(uriText ?? '', 'repository URI');
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

function listRepositories(context: CommandContext, flags: PageFlags): Promise<void> {
  return printPages(context, flags, {
    headers: ['Repository', 'Instance', 'Storage Namespace', 'Deleted', 'By', 'Restorable until'],
    fetchPage: (query) => context.client.get('/deleted_repositories', { params: { query } }),
    row: (item) => [
      item.id,
      item.instance,
      item.storage_namespace,
      dateOf(item.deleted_at),
      item.deleted_by,
      dateOf(item.restorable_until),
    ],
  });
}

/** Of this name, the one deleted last first. */
export async function findDeleted(
  client: CommandContext['client'],
  repository: string,
): Promise<{ readonly instance: string; readonly restorable_until: string }[]> {
  const { results } = await client.get('/deleted_repositories', {
    params: { query: { prefix: `${repository}/`, amount: 1000 } },
  });
  return results.toSorted((one, other) => other.deleted_at.localeCompare(one.deleted_at));
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

export function dateOf(time: string): string {
  return formatDate(Math.floor(Date.parse(time) / 1000));
}
