import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { undo } from '../../local/changes.ts';
import { findRoot, readIndex, refuseInterrupted, writeIndex } from '../../local/folder-index.ts';
import { LinkedFolder } from '../../local/linked-folder.ts';
import { removeParts } from '../../local/walk.ts';
import { printSummary } from '../../transfer/summary.ts';
import { withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import { formatUri } from '../../uri.ts';
import { syncing } from './cancelled.ts';

interface PullFlags extends TransferFlags {
  readonly force?: boolean;
}

export function registerPull(local: Command): void {
  withTransferFlags(
    local
      .command('pull')
      .description('bring a linked folder to the newest commit of its ref')
      .argument('[directory]', 'default: the current folder')
      .option(
        '--force',
        'make the folder equal to the commit: local changes are undone, added files deleted',
      ),
  ).action(
    action<[string | undefined], PullFlags>(async (context, [directory], flags) => {
      const { out } = context;
      const root = findRoot(directory ?? '.');
      const index = readIndex(root);
      if (flags.force !== true) refuseInterrupted(root, index);
      if (index.activeOperation !== '') removeParts(root);
      const folder = new LinkedFolder(context, root, index.src);
      const head = await folder.resolve(index.src.ref);
      const changes = await (flags.force === true ? forced(folder, head) : clean(folder, index.atHead, head));
      if (changes.length > 0) writeIndex(root, { ...index, activeOperation: 'pull' });
      const tally = await syncing((signal) => folder.sync(changes, head, flags, { title: 'Pull', signal }));
      writeIndex(root, { ...index, atHead: head, activeOperation: '' });
      out.info('');
      out.info(`Successfully synced changes from ${formatUri(index.src)} at ${head}`);
      printSummary(out, 'Pull', tally);
      if (out.json) out.document(tally);
    }),
  );
}

/** The differences to the new commit; what will be deleted is listed first. */
async function forced(folder: LinkedFolder, head: string): ReturnType<LinkedFolder['localChanges']> {
  const { out } = folder.context;
  const local = await folder.localChanges(head);
  for (const { kind, path } of local) if (kind === 'added') out.info(`will delete local: ${path}`);
  return undo(local);
}

async function clean(
  folder: LinkedFolder,
  atHead: string,
  head: string,
): ReturnType<LinkedFolder['remoteChanges']> {
  const local = await folder.localChanges(atHead);
  if (local.length > 0) {
    throw new CliError(
      `${local.length} uncommitted changes in ${folder.root}: commit them, or use --force to lose them`,
    );
  }
  return head === atHead ? [] : folder.remoteChanges(atHead, head);
}
