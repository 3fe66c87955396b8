import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { presignSupport } from '../../presign.ts';

export function registerPresign(fs: Command): void {
  fs.command('presign')
    .description('print a URL that reads an object without credentials for a while')
    .argument('<path URI>')
    .action(
      action<[string]>(async (context, [uriText]) => {
        const { repository, ref, path } = context.uris.path(uriText, 'path URI');
        const { supported } = await presignSupport(context, repository, true);
        if (!supported) throw new CliError('the server does not support pre-signed URLs for this storage');
        const stats = await context.client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
          params: { path: { repository, ref }, query: { path, presign: true } },
        });
        context.out.line(stats.physical_address);
      }),
    );
}
