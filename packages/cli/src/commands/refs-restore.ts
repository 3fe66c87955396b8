import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { readJson } from '../input.ts';
import { checkedPoll, pollTask, withPollFlags, type PollFlags } from '../poll.ts';
import { formatUri } from '../uri.ts';

interface RestoreFlags extends PollFlags {
  readonly manifest: string;
}

export function register(program: Command): void {
  withPollFlags(
    program
      .command('refs-restore', { hidden: true })
      .description(
        'restore branches, tags and commits into a bare repository; after a failure make it anew and retry',
      )
      .argument('<repository URI>')
      .requiredOption('--manifest <file>', 'the manifest of refs-dump, - for standard input'),
  ).action(
    action<[string], RestoreFlags>(async ({ client, out, uris }, [uriText], flags) => {
      const uri = uris.repository(uriText, 'repository URI');
      checkedPoll(flags);
      const path = { repository: uri.repository };
      const manifest = await readJson<components['schemas']['RefsRestore']>(flags.manifest);
      out.info(`Repository: ${formatUri(uri)}`);
      const task = await client.post('/repositories/{repository}/restore', {
        params: { path },
        body: manifest,
      });
      const state = await pollTask(flags, () =>
        client.get('/repositories/{repository}/restore', { params: { path, query: { task_id: task.id } } }),
      );
      if (out.json) out.document(state);
      else out.line(out.paint(`Repository '${uri.repository}' refs restored successfully`, 'green'));
    }),
  );
}
