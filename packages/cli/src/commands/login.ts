import { createCalls } from '@svc/client';
import type { Command } from 'commander';
import { logInByBrowser } from '../auth/browser-login.ts';
import { writeTokenCache } from '../auth/token-cache.ts';
import { cancellable } from '../cancel.ts';
import { action } from '../context.ts';
import { createNodeTransport } from '../http/transport.ts';
import { Log } from '../log.ts';
import { formatDate } from '../output/format.ts';

export function register(program: Command): void {
  program
    .command('login')
    .description('log in through a browser, for people without access keys')
    .option('--no-browser', 'print a code to type into a browser elsewhere')
    .action(
      action<[], { browser: boolean }>(async ({ apiUrl, endpoint, config, options, out }, _args, flags) => {
        const log = new Log(options);
        const calls = createCalls(createNodeTransport({ endpoint: apiUrl }, log));
        const { token, expiresAt } = await cancellable('the login was cancelled', (signal) =>
          logInByBrowser({ calls, endpoint, out, signal, mayOpen: flags.browser, environment: process.env }),
        );
        writeTokenCache({ token, expiration_time: expiresAt, endpoint: apiUrl });
        const own = createCalls(createNodeTransport({ endpoint: apiUrl, credentials: { token } }, log));
        const { user } = await own.get('/user');
        if (out.json) out.document({ user: user.id, token_expiration: expiresAt });
        else out.line(`Logged in as ${out.paint(user.id, 'yellow')} until ${formatDate(expiresAt)}`);
        if (config.get('credentials.access_key_id') !== '' || config.get('credentials.provider.type') !== '')
          out.warning(`${config.file} or the environment sets credentials, which are used instead`);
      }),
    );
}
