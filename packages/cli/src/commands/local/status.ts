import type { Command } from 'commander';
import { action } from '../../context.ts';
import { mergeChanges } from '../../local/changes.ts';
import { findRoot, readIndex, refuseInterrupted } from '../../local/folder-index.ts';
import { LinkedFolder } from '../../local/linked-folder.ts';

export function registerStatus(local: Command): void {
  local
    .command('status')
    .description('show what changed in a linked folder and on its ref')
    .argument('[directory]', 'default: the current folder')
    .option('-l, --local', 'only changes of the folder')
    .action(
      action<[string | undefined], { local?: boolean }>(async (context, [directory], flags) => {
        const { out } = context;
        const root = findRoot(directory ?? '.');
        const index = readIndex(root);
        refuseInterrupted(root, index);
        const folder = new LinkedFolder(context, root, index.src);
        const own = await folder.localChanges(index.atHead);
        let changes = own;
        if (flags.local !== true) {
          const head = await folder.resolve(index.src.ref);
          const remote = await folder.remoteChanges(index.atHead, head);
          changes = mergeChanges(own, remote);
        }
        if (out.json) {
          out.document(changes.map(({ side, kind, path }) => ({ source: side, change: kind, path })));
          return;
        }
        out.line();
        if (changes.length === 0) {
          out.line('No diff found.');
          return;
        }
        out.table(
          ['Source', 'Change', 'Path'],
          changes.map(({ side, kind, path }) => [
            out.paint(side, kind),
            out.paint(kind, kind),
            out.paint(path, kind),
          ]),
        );
        out.line();
      }),
    );
}
