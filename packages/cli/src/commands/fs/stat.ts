import type { Command } from 'commander';
import { action } from '../../context.ts';
import { printObject } from '../../output/object-block.ts';
import { presignSupport } from '../../presign.ts';
import { presignOption } from './presign-option.ts';

export function registerStat(fs: Command): void {
  fs.command('stat')
    .description('show what is known of an object')
    .argument('<path URI>')
    .addOption(presignOption())
    .action(
      action<[string], { preSign: boolean }>(async (context, [uriText], flags) => {
        const { repository, ref, path } = context.uris.path(uriText, 'path URI');
        const { supported } = await presignSupport(context, repository, flags.preSign);
        const stats = await context.client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
          params: { path: { repository, ref }, query: { path, ...(supported && { presign: true }) } },
        });
        printObject(context.out, stats);
      }),
    );
}
