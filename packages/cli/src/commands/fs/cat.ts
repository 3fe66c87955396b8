import { pipeline } from 'node:stream/promises';
import { openObject } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { presignSupport } from '../../presign.ts';
import { presignOption } from './presign-option.ts';

export function registerCat(fs: Command): void {
  fs.command('cat')
    .description("write an object's content to standard output")
    .argument('<path URI>')
    .addOption(presignOption())
    .addHelpText('after', '\nExample:\n  svcctl fs cat svc://my-repo/main/prices.csv')
    .action(
      action<[string], { preSign: boolean }>(async (context, [uriText], flags) => {
        const { repository, ref, path } = context.uris.path(uriText, 'path URI');
        const { supported } = await presignSupport(context, repository, flags.preSign);
        const { body } = await openObject(context.transport, {
          repository,
          ref,
          path,
          presign: supported,
        });
        await pipeline(body.stream(), process.stdout, { end: false });
      }),
    );
}
