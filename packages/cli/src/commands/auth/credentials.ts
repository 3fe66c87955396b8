import type { Command } from 'commander';
import { action, type CommandContext } from '../../context.ts';
import { bindingBody, placeOf, type BindingFlags } from '../binding.ts';
import { formatDate } from '../../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';
import { userOrSelf } from './current-user.ts';

interface UserFlags {
  readonly id?: string;
}

interface ViewFlags extends BindingFlags {
  readonly view?: string;
  readonly bucket?: string;
}

function viewBody(
  context: CommandContext,
  uri: string,
  flags: ViewFlags,
): ReturnType<typeof bindingBody> & { bucket?: string } {
  return {
    ...bindingBody(context, uri, flags),
    ...(flags.bucket === undefined ? {} : { bucket: flags.bucket }),
  };
}

const idFlag = '--id <user>';
const idHelp = 'name of the user (default: the current user)';

export function registerCredentials(users: Command): void {
  const credentials = users.command('credentials').description('access keys of a user');

  credentials
    .command('create')
    .description('create an access key')
    .option(idFlag, idHelp)
    .option(
      '--view <ref or path URI>',
      'bind it to one bucket that stands for this ref; it is then good for S3 only',
    )
    .option('--bucket <name>', 'name of that bucket (default: that of the repository)')
    .option('--pin', 'resolve the ref now, once and for all')
    .option('--read-only', 'refuse writes')
    .action(
      action<[], UserFlags & ViewFlags>(async (context, _args, flags) => {
        const { client, out } = context;
        const userId = await userOrSelf(context, flags.id);
        const made = await client.post('/auth/users/{userId}/credentials', {
          params: { path: { userId } },
          ...(flags.view === undefined ? {} : { body: { view: viewBody(context, flags.view, flags) } }),
        });
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
    .command('set-view')
    .description('bind an access key to one bucket that stands for a ref')
    .argument('<ref or path URI>')
    .option(idFlag, idHelp)
    .requiredOption('--access-key-id <key>', 'the access key id')
    .option('--bucket <name>', 'name of that bucket (default: that of the repository)')
    .option('--pin', 'resolve the ref now, once and for all')
    .option('--read-only', 'refuse writes')
    .action(
      action<[string], UserFlags & ViewFlags & { accessKeyId: string }>(async (context, [uri], flags) => {
        const userId = await userOrSelf(context, flags.id);
        const { accessKeyId } = flags;
        const view = await context.client.put('/auth/users/{userId}/credentials/{accessKeyId}/view', {
          params: { path: { userId, accessKeyId } },
          body: viewBody(context, uri, flags),
        });
        if (context.out.json) context.out.document(view);
        else context.out.line(`${view.name} -> ${placeOf(view)}`);
      }),
    );

  credentials
    .command('clear-view')
    .description('let an access key be used for everything again')
    .option(idFlag, idHelp)
    .requiredOption('--access-key-id <key>', 'the access key id')
    .action(
      action<[], UserFlags & { accessKeyId: string }>(async (context, _args, flags) => {
        const userId = await userOrSelf(context, flags.id);
        const { accessKeyId } = flags;
        await context.client.delete('/auth/users/{userId}/credentials/{accessKeyId}/view', {
          params: { path: { userId, accessKeyId } },
        });
        context.out.info(`Access key ${accessKeyId} is bound to no bucket`);
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
