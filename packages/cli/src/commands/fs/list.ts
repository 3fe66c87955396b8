import { listAll, type ObjectStats } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { formatDate, humanSize } from '../../output/format.ts';
import { maxPage } from '../../pagination.ts';
import { pinTime } from '../../pin-time.ts';

export function registerList(fs: Command): void {
  fs.command('ls')
    .description('list objects under a prefix')
    .argument('<path URI>')
    .option('-r, --recursive', 'list everything below, not one level')
    .addHelpText('after', '\nExample:\n  svcctl fs ls svc://my-repo/main/tables/')
    .action(
      action<[string], { recursive?: boolean }>(async ({ client, out, uris }, [uriText], flags) => {
        const { repository, ref, path } = await pinTime(client, uris.path(uriText, 'path URI'));
        const recursive = flags.recursive === true;
        const cut = recursive ? 0 : path.lastIndexOf('/') + 1;
        const found: ObjectStats[] = [];
        const items = listAll((after) =>
          client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
            params: {
              path: { repository, ref },
              query: { prefix: path, after, amount: maxPage, ...(!recursive && { delimiter: '/' }) },
            },
          }),
        );
        for await (const item of items) {
          if (out.json) {
            found.push(item);
            continue;
          }
          const isObject = item.path_type === 'object';
          const date = isObject ? formatDate(item.mtime) : '';
          const size = isObject ? humanSize(item.size_bytes ?? 0) : '';
          const name = out.paint(item.path.slice(cut), 'yellow');
          out.line(`${item.path_type.padEnd(12)}    ${date.padEnd(29)}    ${size.padEnd(12)}    ${name}`);
        }
        if (out.json) out.document(found);
      }),
    );
}
