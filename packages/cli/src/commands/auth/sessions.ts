import type { Command } from 'commander';
import { action } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { formatDate } from '../../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';

interface UserFlags {
  readonly id?: string;
}

const idFlag = '--id <user>';
const idHelp = 'name of the user (default: the current user)';

export function registerSessions(users: Command): void {
  const sessions = users.command('sessions').description('logins of a user that are still good');

  withPageFlags(sessions.command('list').description('list sessions').option(idFlag, idHelp)).action(
    action<[], PageFlags & UserFlags>((context, _args, flags) => {
      const { client } = context;
      const { id: userId } = flags;
      return printPages(context, flags, {
        headers: ['Session ID', 'Began', 'Expires', 'Source', 'Client'],
        fetchPage: ({ after, amount }) =>
          userId === undefined
            ? client.get('/user/sessions', { params: { query: { after, amount } } })
            : client.get('/auth/users/{userId}/sessions', {
                params: { path: { userId }, query: { after, amount } },
              }),
        row: (session) => [
          session.id,
          formatDate(session.creation_date),
          formatDate(session.expiration_date),
          session.source_ip,
          session.client,
        ],
      });
    }),
  );

  sessions
    .command('end')
    .description('end a session, or with --all every session of the user')
    .option(idFlag, idHelp)
    .option('--session <session>', 'the session id')
    .option('--all', 'log out everywhere')
    .action(
      action<[], UserFlags & { session?: string; all?: boolean }>(async ({ client, out }, _args, flags) => {
        const { id: userId, session: sessionId, all } = flags;
        if ((sessionId === undefined) === (all !== true))
          throw new UsageError('give either --session or --all');
        if (sessionId === undefined) {
          if (userId === undefined) await client.delete('/user/sessions');
          else await client.delete('/auth/users/{userId}/sessions', { params: { path: { userId } } });
          out.info('All sessions ended');
          return;
        }
        if (userId === undefined)
          await client.delete('/user/sessions/{sessionId}', { params: { path: { sessionId } } });
        else
          await client.delete('/auth/users/{userId}/sessions/{sessionId}', {
            params: { path: { userId, sessionId } },
          });
        out.info(`Session ${sessionId} ended`);
      }),
    );
}
