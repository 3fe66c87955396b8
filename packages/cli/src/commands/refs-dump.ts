import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError } from '../errors.ts';
import { checkedPoll, pollTask, withPollFlags, type PollFlags } from '../poll.ts';

interface DumpFlags extends PollFlags {
  readonly output: string;
}

export function register(program: Command): void {
  withPollFlags(
    program
      .command('refs-dump', { hidden: true })
      .description("write a repository's branches, tags and commits to its storage and print where")
      .argument('<repository URI>')
      .option('-o, --output <file>', 'where the manifest goes, - for standard output', '-'),
  ).action(
    action<[string], DumpFlags>(async ({ client, out, uris }, [uriText], flags) => {
      const { repository } = uris.repository(uriText, 'repository URI');
      checkedPoll(flags);
      const path = { repository };
      const task = await client.post('/repositories/{repository}/dump', { params: { path } });
      const state = await pollTask(flags, () =>
        client.get('/repositories/{repository}/dump', { params: { path, query: { task_id: task.id } } }),
      );
      if (state.refs === undefined) throw new CliError('the server ended the dump without a manifest');
      const { branches_meta_range_id, commits_meta_range_id, tags_meta_range_id } = state.refs;
      const manifest = { branches_meta_range_id, commits_meta_range_id, tags_meta_range_id };
      if (flags.output === '-') out.document(manifest);
      else {
        writeFileSync(flags.output, `${JSON.stringify(manifest, null, 2)}\n`);
        out.line(`Refs manifest written to ${flags.output}`);
      }
    }),
  );
}
