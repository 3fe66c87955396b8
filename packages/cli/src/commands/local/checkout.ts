import type { Command } from 'commander';
import { action, type CommandContext } from '../../context.ts';
import { CliError, UsageError } from '../../errors.ts';
import { undo } from '../../local/changes.ts';
import { findRoot, readIndex, writeIndex } from '../../local/folder-index.ts';
import { gitRoot } from '../../local/git.ts';
import { LinkedFolder } from '../../local/linked-folder.ts';
import { linkedFolders } from '../../local/linked-folders.ts';
import { removeParts } from '../../local/walk.ts';
import { confirm } from '../../prompt.ts';
import { printSummary } from '../../transfer/summary.ts';
import { withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import { syncing } from './cancelled.ts';

interface CheckoutFlags extends TransferFlags {
  readonly ref?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

const operation = 'checkout';

export function registerCheckout(local: Command): void {
  withTransferFlags(
    local
      .command('checkout')
      .description('make a linked folder equal to its commit, or to another ref')
      .argument('[directory]', 'default: the current folder')
      .option('-r, --ref <ref URI>', 'switch to this ref of the same repository')
      .option('--all', 'every linked folder below')
      .option('-y, --yes', 'do not ask'),
  ).action(
    action<[string | undefined], CheckoutFlags>(async (context, [directory], flags) => {
      if (flags.ref !== undefined && flags.all === true) {
        throw new UsageError('--ref and --all cannot be used together');
      }
      if (flags.all !== true) {
        await checkOut(context, findRoot(directory ?? '.'), flags);
        return;
      }
      const start = directory ?? gitRoot('.') ?? '.';
      const folders = [...linkedFolders(start)];
      if (folders.length === 0) throw new CliError(`no linked folder below ${start}`);
      await confirm({
        yes: flags.yes,
        question: `Uncommitted changes in ${folders.length} folders below ${start} will be lost. Proceed?`,
        operation,
      });
      for (const folder of folders) await checkOut(context, folder, { ...flags, yes: true });
    }),
  );
}

async function checkOut(context: CommandContext, root: string, flags: CheckoutFlags): Promise<void> {
  const { out } = context;
  const index = readIndex(root);
  if (index.activeOperation !== '') removeParts(root);
  const target = flags.ref === undefined ? undefined : context.uris.ref(flags.ref, 'ref URI');
  if (target !== undefined && target.repository !== index.src.repository) {
    throw new CliError(`${root} is linked to repository ${index.src.repository}: the ref must belong to it`);
  }
  const src = target === undefined ? index.src : { ...index.src, ref: target.ref };
  const folder = new LinkedFolder(context, root, src);
  const head = target === undefined ? index.atHead : await folder.resolve(target.ref);
  const changes = await folder.localChanges(head);
  if (flags.yes !== true) {
    const own = head === index.atHead ? changes : await folder.localChanges(index.atHead);
    if (own.length > 0) {
      await confirm({ question: `Uncommitted changes in ${root} will be lost. Proceed?`, operation });
    }
  }
  if (changes.length > 0) writeIndex(root, { ...index, activeOperation: operation });
  const tally = await syncing((signal) =>
    folder.sync(undo(changes), head, flags, { title: 'Checkout', signal }),
  );
  writeIndex(root, { src, atHead: head, activeOperation: '' });
  printSummary(out, 'Checkout', tally);
  if (out.json) out.document(tally);
}
