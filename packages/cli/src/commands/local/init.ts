import type { Command } from 'commander';
import { action } from '../../context.ts';
import { formatUri } from '../../uri.ts';
import { booleanOption } from '../boolean-option.ts';
import { linkFolder, type LinkFlags } from './link.ts';

export function registerInit(local: Command): void {
  local
    .command('init')
    .description('link a folder to a path in a repository, without moving data')
    .argument('<path URI>')
    .argument('[directory]', 'default: the current folder')
    .option('--force', 'replace an existing link')
    .addOption(booleanOption('--gitignore', 'keep the data out of a surrounding git repository'))
    .action(
      action<[string, string | undefined], LinkFlags>(async (context, [uriText, directory], flags) => {
        const uri = context.uris.path(uriText, 'path URI');
        const { folder } = await linkFolder(context, uri, directory ?? '.', flags, '');
        context.out.line(
          `Successfully linked local directory '${folder.root}' with remote '${formatUri(folder.src)}'`,
        );
      }),
    );
}
