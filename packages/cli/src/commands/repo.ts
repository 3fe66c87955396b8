import type { Command } from 'commander';
import { action } from '../context.ts';
import { dateOf, findDeleted } from './undelete.ts';
import { formatDate } from '../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { confirm } from '../prompt.ts';
import { formatUri } from '../uri.ts';

interface CreateFlags {
  readonly defaultBranch: string;
  readonly sampleData?: boolean;
}

interface DeleteFlags {
  readonly purge?: boolean;
  readonly yes?: boolean;
  readonly deleteData?: boolean;
}

export function register(program: Command): void {
  const repo = program.command('repo').description('create, list and delete repositories');

  const create = (bare: boolean) =>
    action<[string, string], CreateFlags>(async ({ client, out, uris }, [uriText, namespace], flags) => {
      const uri = uris.repository(uriText, 'repository URI');
      out.info(`Repository: ${formatUri(uri)}`);
      const repository = await client.post('/repositories', {
        params: { query: { bare } },
        body: {
          name: uri.repository,
          storage_namespace: namespace,
          default_branch: flags.defaultBranch,
          sample_data: flags.sampleData === true,
        },
      });
      if (out.json) {
        out.document(repository);
        return;
      }
      out.line(`Repository '${repository.id}' created:`);
      out.line(`storage namespace: ${repository.storage_namespace}`);
      out.line(`default branch: ${repository.default_branch}`);
      out.line(`timestamp: ${repository.creation_date}`);
      if (flags.sampleData === true) out.line('sample data: added');
    });

  repo
    .command('create')
    .description('create a repository')
    .argument('<repository URI>')
    .argument('<storage namespace>')
    .option('-d, --default-branch <name>', 'the branch to start with', 'main')
    .option('--sample-data', 'put a little sample data into it')
    .addHelpText('after', '\nExample:\n  svcctl repo create svc://my-repo s3://my-bucket/my-repo')
    .action(create(false));

  repo
    .command('create-bare', { hidden: true })
    .description('create a repository without a commit or branch, to restore refs into')
    .argument('<repository URI>')
    .argument('<storage namespace>')
    .option('-d, --default-branch <name>', 'name of the default branch (not created)', 'main')
    .action(create(true));

  repo
    .command('delete')
    .description('delete a repository; it can be brought back for a while, and the data in its storage stays')
    .argument('<repository URI>')
    .option('--purge', 'remove its records at once: there is no way back')
    .option('--delete-data', 'delete its data, too: after 7 days, or at once with --purge')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], DeleteFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.repository(uriText, 'repository URI');
        out.info(`Repository: ${formatUri(uri)}`);
        await confirm({
          yes: flags.yes,
          question: deleteQuestion(uri.repository, flags),
          operation: 'delete repository',
        });
        await client.delete('/repositories/{repository}', {
          params: {
            path: { repository: uri.repository },
            query: { purge: flags.purge === true, delete_data: flags.deleteData === true },
          },
        });
        out.info(`Repository '${uri.repository}' deleted`);
        if (flags.purge === true) return;
        const deleted = (await findDeleted(client, uri.repository))[0];
        if (deleted !== undefined) {
          out.info(
            `It can be brought back until ${dateOf(deleted.restorable_until)}: svcctl undelete repo ${formatUri(uri)}`,
          );
        }
      }),
    );

  withPageFlags(repo.command('list').description('list repositories')).action(
    action<[], PageFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['Repository', 'Creation Date', 'Default Ref Name', 'Storage ID', 'Storage Namespace'],
        fetchPage: (query) => context.client.get('/repositories', { params: { query } }),
        row: (item) => [
          item.id,
          formatDate(item.creation_date),
          item.default_branch,
          item.storage_id ?? '',
          item.storage_namespace,
        ],
      }),
    ),
  );
}

function deleteQuestion(repository: string, { deleteData, purge }: DeleteFlags): string {
  if (deleteData !== true) return `Delete repository ${repository}?`;
  return purge === true
    ? `Delete repository ${repository} and all its data now? There is no way back.`
    : `Delete repository ${repository} and, 7 days from now, all its data? Until then 'undelete repo' brings it back.`;
}
