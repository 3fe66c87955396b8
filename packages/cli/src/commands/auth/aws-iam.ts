import type { Command } from 'commander';
import { action } from '../../context.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';
import { userOrSelf } from './current-user.ts';

interface PrincipalFlags {
  readonly id?: string;
  readonly principalId: string;
}

const idFlag = '--id <user>';
const idHelp = 'name of the user (default: the current user)';
const principalFlag = '--principal-id <ARN>';
const principalHelp = 'the AWS principal';
const headers = ['Principal ID', 'User ID'];

export function registerAwsIam(users: Command): void {
  const awsIam = users.command('aws-iam').description('AWS principals that log in as a user');

  const change = (name: 'attach' | 'detach', description: string): void => {
    awsIam
      .command(name)
      .description(description)
      .option(idFlag, idHelp)
      .requiredOption(principalFlag, principalHelp)
      .action(
        action<[], PrincipalFlags>(async (context, _args, flags) => {
          const { client, out } = context;
          const userId = await userOrSelf(context, flags.id);
          const { principalId } = flags;
          const params = { path: { userId }, query: { principalId } };
          if (name === 'attach') {
            await client.post('/auth/users/{userId}/external/principals', { params, body: {} });
          } else await client.delete('/auth/users/{userId}/external/principals', { params });
          out.info(`Principal ${principalId} ${name}ed ${name === 'attach' ? 'to' : 'from'} user ${userId}`);
        }),
      );
  };
  change('attach', 'let a principal log in as a user');
  change('detach', 'end that');

  withPageFlags(
    awsIam.command('list').description('list the principals of a user').option(idFlag, idHelp),
  ).action(
    action<[], PageFlags & { id?: string }>(async (context, _args, flags) => {
      const userId = await userOrSelf(context, flags.id);
      await printPages(context, flags, {
        headers,
        fetchPage: (query) =>
          context.client.get('/auth/users/{userId}/external/principals/ls', {
            params: { path: { userId }, query },
          }),
        row: (item) => [item.id, item.user_id],
      });
    }),
  );

  awsIam
    .command('lookup')
    .description('find the user of a principal')
    .requiredOption(principalFlag, principalHelp)
    .action(
      action<[], { principalId: string }>(async ({ client, out }, _args, { principalId }) => {
        const found = await client.get('/auth/external/principals', { params: { query: { principalId } } });
        if (out.json) out.document(found);
        else {
          out.table(headers, [[found.id, found.user_id]]);
          out.line();
        }
      }),
    );
}
