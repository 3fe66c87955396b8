import type { Command } from 'commander';
import { action } from '../../context.ts';
import { collectList, parsePairs } from '../../list-flag.ts';

export function registerUpdateMetadata(fs: Command): void {
  fs.command('update-metadata', { hidden: true })
    .description("replace an object's user metadata")
    .argument('<path URI>')
    .requiredOption('--metadata <key=value>', 'the new metadata, repeatable', collectList)
    .action(
      action<[string], { metadata: readonly string[] }>(async ({ client, uris }, [uriText], flags) => {
        const { repository, ref: branch, path } = uris.path(uriText, 'path URI');
        await client.put('/repositories/{repository}/branches/{branch}/objects/stat/user_metadata', {
          params: { path: { repository, branch }, query: { path } },
          body: { set: parsePairs(flags.metadata) },
        });
      }),
    );
}
