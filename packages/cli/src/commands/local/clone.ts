import { existsSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import type { Change } from '../../local/changes.ts';
import { writeIndex } from '../../local/folder-index.ts';
import { IgnoreRules } from '../../local/ignore.ts';
import { listFolder } from '../../local/remote-listing.ts';
import { presignSupport } from '../../presign.ts';
import { printSummary } from '../../transfer/summary.ts';
import { withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import { formatUri } from '../../uri.ts';
import { booleanOption } from '../boolean-option.ts';
import { syncing } from './cancelled.ts';
import { linkFolder } from './link.ts';

interface CloneFlags extends TransferFlags {
  readonly gitignore: boolean;
}

export function registerClone(local: Command): void {
  withTransferFlags(
    local
      .command('clone')
      .description('download a path of a repository into an empty folder and link it')
      .argument('<path URI>')
      .argument('[directory]', 'default: the current folder')
      .addOption(booleanOption('--gitignore', 'keep the data out of a surrounding git repository')),
  ).action(
    action<[string, string | undefined], CloneFlags>(async (context, [uriText, directory], flags) => {
      const { client, out } = context;
      const uri = context.uris.path(uriText, 'path URI');
      const root = resolve(directory ?? '.');
      if (existsSync(root) && readdirSync(root).length > 0) {
        throw new CliError(`directory '${root}' exists and is not empty`);
      }
      const { folder, index } = await linkFolder(context, uri, root, flags, 'clone');
      const { repository, path: prefix } = folder.src;
      const presign = await presignSupport(context, repository, flags.preSign);
      const remote = listFolder(
        { client, repository, ref: index.atHead, prefix, presign: presign.supported },
        folder.rules,
        new IgnoreRules(''),
        (text) => {
          out.warning(text);
        },
      );
      const tally = await syncing((signal) =>
        folder.sync(downloads(remote), index.atHead, flags, { title: 'Clone', signal, presign }),
      );
      writeIndex(root, { ...index, activeOperation: '' });
      out.info('');
      out.info(`Successfully cloned ${formatUri(folder.src)} to ${root}.`);
      printSummary(out, 'Clone', tally);
      if (out.json) out.document(tally);
    }),
  );
}

async function* downloads(remote: ReturnType<typeof listFolder>): AsyncGenerator<Change> {
  for await (const { path, stats } of remote) yield { side: 'remote', kind: 'added', path, stats };
}
