import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { readJson } from '../input.ts';
import { registerRuns } from './gc-runs.ts';

type Rules = components['schemas']['GarbageCollectionRules'];

export function register(program: Command): void {
  const gc = program.command('gc').description('rules and runs of garbage collection');
  registerRuns(gc);

  gc.command('get-config')
    .description('show how long deleted objects are kept')
    .argument('<repository URI>')
    .option('-p, --json', 'print the rules as JSON')
    .action(
      action<[string]>(async ({ client, out, uris }, [uriText]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const rules = await client.get('/repositories/{repository}/settings/gc_rules', {
          params: { path: { repository } },
        });
        if (out.json) {
          out.document(rules);
          return;
        }
        out.line(`Default retention days: ${rules.default_retention_days}`);
        for (const branch of rules.branches) {
          out.line(`Branch: ${branch.branch_id}`);
          out.line(`Retention days: ${branch.retention_days}`);
        }
      }),
    );

  gc.command('set-config')
    .description('set how long deleted objects are kept')
    .argument('<repository URI>')
    .requiredOption('-f, --filename <file>', 'JSON file with the rules, - for standard input')
    .addHelpText(
      'after',
      '\nThe file:\n  {"default_retention_days": 21, "branches": [{"branch_id": "main", "retention_days": 28}]}',
    )
    .action(
      action<[string], { filename: string }>(async ({ client, uris }, [uriText], flags) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const rules = await readJson<Rules>(flags.filename);
        await client.put('/repositories/{repository}/settings/gc_rules', {
          params: { path: { repository } },
          body: rules,
        });
      }),
    );

  gc.command('delete-config')
    .description('remove the rules')
    .argument('<repository URI>')
    .action(
      action<[string]>(async ({ client, uris }, [uriText]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        await client.delete('/repositories/{repository}/settings/gc_rules', {
          params: { path: { repository } },
        });
      }),
    );

  gc.command('prepare-async', { hidden: true })
    .description('start listing the commits a garbage collector may remove')
    .argument('<repository URI>')
    .action(
      action<[string]>(async ({ client, out, uris }, [uriText]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const task = await client.post('/repositories/{repository}/gc/prepare_commits/async', {
          params: { path: { repository } },
        });
        if (out.json) {
          out.document(task);
          return;
        }
        out.line(`Task ID: ${task.id}`);
        out.line(`Check it with: svcctl gc check-async svc://${repository} --id ${task.id}`);
      }),
    );

  gc.command('check-async', { hidden: true })
    .description('show the state of such a task')
    .argument('<repository URI>')
    .requiredOption('--id <task>', 'the task of prepare-async')
    .action(
      action<[string], { id: string }>(async ({ client, out, uris }, [uriText], flags) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const state = await client.get('/repositories/{repository}/gc/prepare_commits/status', {
          params: { path: { repository }, query: { id: flags.id } },
        });
        if (out.json) {
          out.document(state);
          return;
        }
        const field = (label: string, value: string | undefined): void => {
          if (value !== undefined && value !== '') out.line(`${label}: ${value}`);
        };
        field('Task ID', state.task_id);
        field('Status', state.completed ? 'Completed' : 'Running');
        field('Error', state.error?.message);
        field('Commits Location', state.result?.gc_commits_location);
        field('Commits Signed URL', state.result?.gc_commits_presigned_url);
        field('Run ID', state.result?.run_id);
        field('Last Update', state.update_time);
      }),
    );
}
