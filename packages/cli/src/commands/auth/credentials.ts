import type { Command } from 'commander';
import { action } from '../../context.ts';
import { formatDate } from '../../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';
import { userOrSelf } from './current-user.ts';

interface UserFlags {
  readonly id?: string;
}

const idFlag = '--id <user>';
const idHelp = 'name of the user (default: the current user)';

export function registerCredentials(users: Command): void {
  const credentials = users.command('credentials').description('access keys of a user');

  credentials
    .command('create')
    .description('create an access key')
    .option(idFlag, idHelp)
    .action(
      action<[], UserFlags>(async (context, _args, flags) => {
        const { client, out } = context;
        const userId = await userOrSelf(context, flags.id);
        const made = await client.post('/auth/users/{userId}/credentials', { params: { path: { userId } } });
        if (out.json) {
          out.document(made);
          return;
        }
        out.line(out.paint('Credentials created successfully.', 'green'));
        out.line(`Access Key ID: ${out.paint(made.access_key_id, 'bold')}`);
        out.line(`Access Secret Key: ${out.paint(made.secret_access_key, 'bold')}`);
        out.line(out.paint('Keep the secret access key safe: it will not be shown again.', 'yellow'));
      }),
    );

  withPageFlags(credentials.command('list').description('list access keys').option(idFlag, idHelp)).action(
    action<[], PageFlags & UserFlags>(async (context, _args, flags) => {
      const userId = await userOrSelf(context, flags.id);
      await printPages(context, flags, {
        headers: ['Access Key ID', 'Issued Date'],
        fetchPage: (query) =>
          context.client.get('/auth/users/{userId}/credentials', { params: { path: { userId }, query } }),
        row: (item) => [item.access_key_id, formatDate(item.creation_date)],
      });
    }),
  );

  credentials
    .command('delete')
    .description('delete an access key')
    .option(idFlag, idHelp)
    .requiredOption('--access-key-id <key>', 'the access key id')
    .action(
      action<[], UserFlags & { accessKeyId: string }>(async (context, _args, flags) => {
        const userId = await userOrSelf(context, flags.id);
        const { accessKeyId } = flags;
        await context.client.delete('/auth/users/{userId}/credentials/{accessKeyId}', {
          params: { path: { userId, accessKeyId } },
        });
        context.out.info(`Credentials ${accessKeyId} of user ${userId} deleted`);
      }),
    );
}
