import type { Command } from 'commander';
import { action } from '../../context.ts';
import { formatDate } from '../../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';
import { printCreated } from './created.ts';
import { printPolicies } from './policy-rows.ts';

interface IdFlags {
  readonly id: string;
}

export function registerUsers(auth: Command): Command {
  const users = auth.command('users').description('users');

  users
    .command('create')
    .description('create a user')
    .requiredOption('--id <user>', 'name of the user')
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        printCreated(out, 'User', await client.post('/auth/users', { body: { id } }));
      }),
    );

  users
    .command('delete')
    .description('delete a user')
    .requiredOption('--id <user>', 'name of the user')
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        await client.delete('/auth/users/{userId}', { params: { path: { userId: id } } });
        out.info(`User deleted: ${id}`);
      }),
    );

  withPageFlags(users.command('list').description('list users')).action(
    action<[], PageFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['User ID', 'User', 'Creation Date'],
        fetchPage: (query) => context.client.get('/auth/users', { params: { query } }),
        row: (user) => [
          user.id,
          [user.friendly_name, user.email].find((name) => name !== undefined && name !== '') ?? user.id,
          formatDate(user.creation_date),
        ],
      }),
    ),
  );

  const groups = users.command('groups').description('groups of a user');
  withPageFlags(
    groups
      .command('list')
      .description('list the groups of a user')
      .requiredOption('--id <user>', 'name of the user'),
  ).action(
    action<[], PageFlags & IdFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['Group ID', 'Creation Date'],
        fetchPage: (query) =>
          context.client.get('/auth/users/{userId}/groups', {
            params: { path: { userId: flags.id }, query },
          }),
        row: (group) => [group.id, formatDate(group.creation_date)],
      }),
    ),
  );

  registerUserPolicies(users);
  return users;
}

function registerUserPolicies(users: Command): void {
  const policies = users.command('policies').description('policies of a user');
  withPageFlags(
    policies
      .command('list')
      .description('list the policies of a user, one row per statement')
      .requiredOption('--id <user>', 'name of the user')
      .option('--effective', "also the policies of the user's groups"),
  ).action(
    action<[], PageFlags & IdFlags & { effective?: boolean }>((context, _args, flags) =>
      printPolicies(context, flags, (query) =>
        context.client.get('/auth/users/{userId}/policies', {
          params: { path: { userId: flags.id }, query: { ...query, effective: flags.effective === true } },
        }),
      ),
    ),
  );

  const change = (name: 'attach' | 'detach', description: string): void => {
    policies
      .command(name)
      .description(description)
      .requiredOption('--id <user>', 'name of the user')
      .requiredOption('--policy <policy>', 'name of the policy')
      .action(
        action<[], IdFlags & { policy: string }>(async ({ client, out }, _args, { id, policy }) => {
          const params = { path: { userId: id, policyId: policy } };
          if (name === 'attach') await client.put('/auth/users/{userId}/policies/{policyId}', { params });
          else await client.delete('/auth/users/{userId}/policies/{policyId}', { params });
          out.info(`Policy ${policy} ${name}ed ${name === 'attach' ? 'to' : 'from'} user ${id}`);
        }),
      );
  };
  change('attach', 'give a policy to a user');
  change('detach', 'take a policy from a user');
}
