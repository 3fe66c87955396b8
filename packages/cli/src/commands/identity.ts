import type { Command } from 'commander';
import { action } from '../context.ts';
import { formatDate } from '../output/format.ts';

export function register(program: Command): void {
  program
    .command('identity')
    .description('show who the configured credentials belong to')
    .action(
      action<[]>(async ({ client, out }) => {
        const { user } = await client.get('/user');
        if (out.json) {
          out.document(user);
          return;
        }
        out.line(`User ID: ${out.paint(user.id, 'yellow')}`);
        out.line(`Email: ${out.paint(user.email ?? '', 'blue')}`);
        out.line(`Creation Date: ${formatDate(user.creation_date)}`);
      }),
    );
}
