import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { collectList, parsePairs, wholeNumber } from '../../list-flag.ts';
import { printObject } from '../../output/object-block.ts';

interface StageFlags {
  readonly location: string;
  readonly size: number;
  readonly checksum: string;
  readonly mtime: number;
  readonly contentType?: string;
  readonly meta?: readonly string[];
}

export function registerStage(fs: Command): void {
  fs.command('stage', { hidden: true })
    .description('link an object that lies outside of the repository into a branch')
    .argument('<path URI>')
    .requiredOption('--location <URI>', 'where the data is')
    .requiredOption('--size <bytes>', 'its size', wholeNumber)
    .requiredOption('--checksum <md5>', 'its MD5 in hexadecimal')
    .option('--mtime <seconds>', 'its modification time (Unix seconds), 0 for now', wholeNumber, 0)
    .option('--content-type <type>', 'its MIME type')
    .option('--meta <key=value>', 'user metadata, repeatable', collectList)
    .action(
      action<[string], StageFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const { repository, ref: branch, path } = uris.path(uriText, 'path URI');
        const { storage_namespace: namespace } = await client.get('/repositories/{repository}', {
          params: { path: { repository } },
        });
        const inside = namespace.endsWith('/') ? namespace : `${namespace}/`;
        if (flags.location === namespace || flags.location.startsWith(inside)) {
          throw new CliError(
            `the location lies inside of the storage namespace ${namespace} of the repository`,
          );
        }
        const stats = await client.put('/repositories/{repository}/branches/{branch}/objects', {
          params: { path: { repository, branch }, query: { path } },
          body: {
            physical_address: flags.location,
            checksum: flags.checksum,
            size_bytes: flags.size,
            ...(flags.mtime !== 0 && { mtime: flags.mtime }),
            ...(flags.contentType !== undefined && { content_type: flags.contentType }),
            metadata: parsePairs(flags.meta),
          },
        });
        printObject(out, stats);
      }),
    );
}
