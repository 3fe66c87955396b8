import type { Command } from 'commander';
import { action } from '../../context.ts';
import { formatDate } from '../../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';
import { printCreated } from './created.ts';
import { userOrSelf } from './current-user.ts';
import { printPolicies } from './policy-rows.ts';

interface IdFlags {
  readonly id: string;
}

const idFlag = '--id <group>';
const idHelp = 'name of the group';

export function registerGroups(auth: Command): void {
  const groups = auth.command('groups').description('groups of users');

  groups
    .command('create')
    .description('create a group')
    .requiredOption(idFlag, idHelp)
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        printCreated(out, 'Group', await client.post('/auth/groups', { body: { id } }));
      }),
    );

  groups
    .command('delete')
    .description('delete a group')
    .requiredOption(idFlag, idHelp)
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        await client.delete('/auth/groups/{groupId}', { params: { path: { groupId: id } } });
        out.info(`Group deleted: ${id}`);
      }),
    );

  withPageFlags(groups.command('list').description('list groups')).action(
    action<[], PageFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['Group ID', 'Group Name', 'Creation Date'],
        fetchPage: (query) => context.client.get('/auth/groups', { params: { query } }),
        row: ({ id, name, creation_date: date }) => [
          id,
          name === undefined || name === '' ? id : name,
          formatDate(date),
        ],
      }),
    ),
  );

  registerMembers(groups);
  registerGroupPolicies(groups);
  registerAcl(groups);
}

function registerMembers(groups: Command): void {
  const members = groups.command('members').description('members of a group');
  const change = (name: 'add' | 'remove', description: string, done: string): void => {
    members
      .command(name)
      .description(description)
      .requiredOption(idFlag, idHelp)
      .option('--user <user>', 'name of the user (default: the current user)')
      .action(
        action<[], IdFlags & { user?: string }>(async (context, _args, flags) => {
          const userId = await userOrSelf(context, flags.user);
          const params = { path: { groupId: flags.id, userId } };
          if (name === 'add') await context.client.put('/auth/groups/{groupId}/members/{userId}', { params });
          else await context.client.delete('/auth/groups/{groupId}/members/{userId}', { params });
          context.out.info(`User ${userId} ${done} group ${flags.id}`);
        }),
      );
  };
  change('add', 'add a user to a group', 'added to');
  change('remove', 'remove a user from a group', 'removed from');

  withPageFlags(
    members.command('list').description('list the members of a group').requiredOption(idFlag, idHelp),
  ).action(
    action<[], PageFlags & IdFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['User ID'],
        fetchPage: (query) =>
          context.client.get('/auth/groups/{groupId}/members', {
            params: { path: { groupId: flags.id }, query },
          }),
        row: (user) => [user.id],
      }),
    ),
  );
}

function registerGroupPolicies(groups: Command): void {
  const policies = groups.command('policies').description('policies of a group');
  withPageFlags(
    policies
      .command('list')
      .description('list the policies of a group, one row per statement')
      .requiredOption(idFlag, idHelp),
  ).action(
    action<[], PageFlags & IdFlags>((context, _args, flags) =>
      printPolicies(context, flags, (query) =>
        context.client.get('/auth/groups/{groupId}/policies', {
          params: { path: { groupId: flags.id }, query },
        }),
      ),
    ),
  );
  const change = (name: 'attach' | 'detach', description: string): void => {
    policies
      .command(name)
      .description(description)
      .requiredOption(idFlag, idHelp)
      .requiredOption('--policy <policy>', 'name of the policy')
      .action(
        action<[], IdFlags & { policy: string }>(async ({ client, out }, _args, { id, policy }) => {
          const params = { path: { groupId: id, policyId: policy } };
          if (name === 'attach') await client.put('/auth/groups/{groupId}/policies/{policyId}', { params });
          else await client.delete('/auth/groups/{groupId}/policies/{policyId}', { params });
          out.info(`Policy ${policy} ${name}ed ${name === 'attach' ? 'to' : 'from'} group ${id}`);
        }),
      );
  };
  change('attach', 'give a policy to a group');
  change('detach', 'take a policy from a group');
}

function registerAcl(groups: Command): void {
  const acl = groups.command('acl').description('permission of a group on all repositories');
  acl
    .command('get')
    .description('show the permission of a group')
    .requiredOption(idFlag, idHelp)
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        const found = await client.get('/auth/groups/{groupId}/acl', { params: { path: { groupId: id } } });
        if (out.json) out.document(found);
        else out.line(`Group ${id}:${found.permission}`);
      }),
    );
  acl
    .command('set')
    .description('set the permission of a group')
    .requiredOption(idFlag, idHelp)
    .requiredOption('--permission <permission>', 'typically Read, Write, Super or Admin')
    .action(
      action<[], IdFlags & { permission: string }>(async ({ client }, _args, { id, permission }) => {
        await client.post('/auth/groups/{groupId}/acl', {
          params: { path: { groupId: id } },
          body: { permission },
        });
      }),
    );
}
