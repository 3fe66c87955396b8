import type { Command } from 'commander';
import { action } from '../context.ts';
import { printCommitEntry } from '../output/commit-blocks.ts';

export function register(program: Command): void {
  program
    .command('show')
    .description('show one thing in detail')
    .command('commit')
    .description('show a commit')
    .argument('<commit URI>')
    .option('--show-meta-range-id', 'also show the id of its tree')
    .action(
      action<[string], { showMetaRangeId?: boolean }>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.ref(uriText, 'commit URI');
        const commit = await client.get('/repositories/{repository}/commits/{commitId}', {
          params: { path: { repository: uri.repository, commitId: uri.ref } },
        });
        if (out.json) out.document(commit);
        else
          printCommitEntry(out, commit, {
            metaRangeId: flags.showMetaRangeId === true,
            between: false,
          });
      }),
    );
}
