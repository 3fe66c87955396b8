import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { wholeNumber } from '../list-flag.ts';
import { printCommitResult } from '../output/commit-blocks.ts';
import { changeSteering, resolves, type ResolveFlags, withResolveFlags } from '../resolve-flags.ts';
import { formatUri } from '../uri.ts';

interface CherryPickFlags extends ResolveFlags {
  readonly parentNumber?: number;
}

export function register(program: Command): void {
  const pick = program
    .command('cherry-pick')
    .description("apply another commit's changes to a branch")
    .argument('<commit URI>')
    .argument('<branch URI>')
    .option('-m, --parent-number <n>', 'the parent a merge commit is compared with, from 1', wholeNumber);
  withResolveFlags(pick).action(
    action<[string, string], CherryPickFlags>(async (context, [commitText, branchText], flags) => {
      const { client, out, uris } = context;
      const commit = uris.ref(commitText, 'commit URI');
      const branch = uris.branch(branchText, 'branch URI');
      if (commit.repository !== branch.repository) {
        throw new CliError('the commit and the branch must be in the same repository');
      }
      if (flags.parentNumber !== undefined && flags.parentNumber < 1) {
        throw new UsageError('parent number must be positive, if specified');
      }
      out.info(`Branch: ${formatUri(branch)}`);
      const picked = await client.post('/repositories/{repository}/branches/{branch}/cherry-pick', {
        params: { path: { repository: branch.repository, branch: branch.ref } },
        body: {
          ref: commit.ref,
          parent_number: flags.parentNumber ?? 1,
          ...(resolves(flags) && (await changeSteering(context, flags, commit, branch))),
        },
      });
      printCommitResult(out, branch.ref, picked);
    }),
  );
}
