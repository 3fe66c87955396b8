import { forEachParallel } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { positiveNumber } from '../../list-flag.ts';
import { listObjects } from '../../local/remote-listing.ts';
import { printObject } from '../../output/object-block.ts';
import { pinTime } from '../../pin-time.ts';
import { formatUri } from '../../uri.ts';

interface CopyFlags {
  readonly recursive?: boolean;
  readonly parallelism?: number;
}

export function registerCopy(fs: Command): void {
  fs.command('cp')
    .description('copy an object, or everything below a path, inside a repository')
    .argument('<source path URI>')
    .argument('<destination path URI>')
    .option('-r, --recursive', 'copy everything below the source')
    .option(
      '-p, --parallelism <n>',
      'how many objects at once (default 25, or options.parallelism)',
      positiveNumber,
    )
    .addHelpText(
      'after',
      '\nExample:\n  svcctl fs cp svc://my-repo/main/prices.csv svc://my-repo/dev/old/prices.csv',
    )
    .action(
      action<[string, string], CopyFlags>(async (context, [sourceText, targetText], flags) => {
        const { client, out, uris } = context;
        const source = uris.path(sourceText, 'source path URI');
        const target = uris.path(targetText, 'destination path URI');
        const { repository } = source;
        if (target.repository !== repository) {
          throw new CliError('both paths must be in the same repository');
        }
        const copy = (from: string, to: string, ref = source.ref) =>
          client.post('/repositories/{repository}/branches/{branch}/objects/copy', {
            params: { path: { repository, branch: target.ref }, query: { dest_path: to } },
            body: { src_path: from, src_ref: ref },
          });
        if (flags.recursive !== true) {
          const isFolder = target.path === '' || target.path.endsWith('/');
          const name = source.path.split('/').at(-1) ?? '';
          printObject(out, await copy(source.path, isFolder ? target.path + name : target.path));
          return;
        }
        const withSlash = (path: string): string => (path === '' || path.endsWith('/') ? path : `${path}/`);
        const prefix = withSlash(source.path);
        const destination = withSlash(target.path);
        if (source.ref === target.ref && destination.startsWith(prefix)) {
          throw new CliError('the destination lies below the source');
        }
        let copied = 0;
        const parallelism = flags.parallelism ?? context.config.get('options.parallelism');
        const pinned = await pinTime(client, source);
        const objects = listObjects({ client, repository, ref: pinned.ref, prefix });
        await forEachParallel(objects, parallelism, async ({ path }) => {
          await copy(path, destination + path.slice(prefix.length), pinned.ref);
          copied += 1;
        });
        if (copied === 0) throw new CliError(`No objects in path: ${formatUri({ ...source, path: prefix })}`);
        out.info(`Copied: ${copied}`);
        if (out.json) out.document({ copied });
      }),
    );
}
