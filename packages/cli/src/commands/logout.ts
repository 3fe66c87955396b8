import { ApiError, createCalls } from '@svc/client';
import type { Command } from 'commander';
import { readTokenCache, removeTokenCache } from '../auth/token-cache.ts';
import { action } from '../context.ts';
import { createNodeTransport } from '../http/transport.ts';
import { Log } from '../log.ts';

export function register(program: Command): void {
  program
    .command('logout')
    .description('end the login that "svcctl login" began')
    .action(
      action<[]>(async ({ apiUrl, options, out }) => {
        const cached = readTokenCache(apiUrl);
        if (cached === undefined) {
          out.info('Nobody is logged in');
          return;
        }
        const { token } = cached;
        // Whatever the server says, this machine forgets it.
        removeTokenCache();
        const calls = createCalls(
          createNodeTransport({ endpoint: apiUrl, credentials: { token } }, new Log(options)),
        );
        try {
          await calls.delete('/user/sessions/{sessionId}', {
            params: { path: { sessionId: sessionOf(token) } },
          });
        } catch (error) {
          // The session has ended already.
          if (!(error instanceof ApiError && (error.status === 401 || error.status === 404))) throw error;
        }
        out.info('Logged out');
      }),
    );
}

/** The name of a token's session. */
function sessionOf(token: string): string {
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    readonly jti: string;
  };
  return claims.jti;
}
