import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError } from '../errors.ts';
import { collectList, parsePairs, wholeNumber } from '../list-flag.ts';
import { printCommitResult } from '../output/commit-blocks.ts';
import { formatUri } from '../uri.ts';

export interface CommitFlags {
  readonly message?: string;
  readonly allowEmptyMessage?: boolean;
  readonly allowEmptyCommit?: boolean;
  readonly meta?: readonly string[];
  readonly epochTimeSeconds: number;
}

/** Refuses a blank message before anything is sent. */
export function messageOf(flags: Pick<CommitFlags, 'message' | 'allowEmptyMessage'>): string {
  const message = flags.message ?? '';
  if (message.trim() === '' && flags.allowEmptyMessage !== true) {
    throw new CliError('a commit needs a message: use --message, or --allow-empty-message');
  }
  return message;
}

export function register(program: Command): void {
  program
    .command('commit')
    .description("commit a branch's changes")
    .argument('<branch URI>')
    .option('-m, --message <text>', 'commit message')
    .option('--allow-empty-message', 'allow an empty message')
    .option('--allow-empty-commit', 'commit even when nothing changed')
    .option('--meta <key=value>', 'metadata, repeatable', collectList)
    .addOption(
      program
        .createOption('--epoch-time-seconds <seconds>', 'creation date of the commit')
        .argParser(wholeNumber)
        .default(-1)
        .hideHelp(),
    )
    .addHelpText(
      'after',
      '\nExample:\n  svcctl commit svc://my-repo/main -m "Add prices" --meta pipeline=nightly',
    )
    .action(
      action<[string], CommitFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        const message = messageOf(flags);
        const metadata = parsePairs(flags.meta);
        out.info(`Branch: ${formatUri(uri)}`);
        const commit = await client.post('/repositories/{repository}/branches/{branch}/commits', {
          params: { path: { repository: uri.repository, branch: uri.ref } },
          body: {
            message,
            metadata,
            allow_empty: flags.allowEmptyCommit === true,
            ...(flags.epochTimeSeconds >= 0 && { date: flags.epochTimeSeconds }),
          },
        });
        printCommitResult(out, uri.ref, commit);
      }),
    );
}
