import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError } from '../errors.ts';
import { formatUri } from '../uri.ts';

export function register(program: Command): void {
  program
    .command('find-merge-base', { hidden: true })
    .description('find the commit two refs have in common')
    .argument('<source ref URI>')
    .argument('<destination ref URI>')
    .action(
      action<[string, string]>(async ({ client, out, uris }, [sourceText, destinationText]) => {
        const source = uris.ref(sourceText, 'source ref URI');
        const destination = uris.ref(destinationText, 'destination ref URI');
        if (source.repository !== destination.repository) {
          throw new CliError('both references must belong to the same repository');
        }
        out.info(`Source: ${formatUri(source)}`);
        out.info(`Destination: ${formatUri(destination)}`);
        const found = await client.get(
          '/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}',
          {
            params: {
              path: {
                repository: source.repository,
                sourceRef: source.ref,
                destinationBranch: destination.ref,
              },
            },
          },
        );
        if (out.json) {
          out.document(found);
          return;
        }
        const id = (text: string): string => out.paint(text, 'yellow');
        out.line(
          `Found base "${id(found.base_commit_id)}" when merging "${id(found.source_commit_id)}" into "${id(found.destination_commit_id)}"`,
        );
      }),
    );
}
