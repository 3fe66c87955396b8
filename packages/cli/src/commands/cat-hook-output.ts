import type { Command } from 'commander';
import { action } from '../context.ts';
import { hookOutput } from '../hook-output.ts';

export function register(program: Command): void {
  program
    .command('cat-hook-output', { hidden: true })
    .description('write what a hook of a run has written')
    .argument('<repository URI>')
    .argument('<run id>')
    .argument('<hook run id>')
    .action(
      action<[string, string, string]>(async (context, [uriText, runId, hookRunId]) => {
        const { repository } = context.uris.repository(uriText, 'repository URI');
        const output = await hookOutput(context, { repository, run_id: runId, hook_run_id: hookRunId });
        context.out.line(`Repository: svc://${repository}`);
        context.out.line(output);
      }),
    );
}
