import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { readIndex } from '../../local/folder-index.ts';
import { gitRoot } from '../../local/git.ts';
import { linkedFolders } from '../../local/linked-folders.ts';
import { formatUri } from '../../uri.ts';

export function registerList(local: Command): void {
  local
    .command('list')
    .description('list linked folders')
    .argument('[directory]', 'where to start (default: the top of the git repository, or the current folder)')
    .action(
      action<[string | undefined]>(({ out }, [directory]) => {
        const start = resolve(directory ?? gitRoot('.') ?? '.');
        const rows = [...linkedFolders(start)].map((folder) => {
          const { src, atHead } = readIndex(folder);
          return { directory: relative(start, folder) || '.', remote: formatUri(src), commit: atHead };
        });
        if (out.json) out.document(rows);
        else if (rows.length > 0) {
          out.table(
            ['Directory', 'Remote URI', 'Synced Commit'],
            rows.map((row) => [row.directory, row.remote, row.commit]),
          );
        }
      }),
    );
}
