import { ApiError, type components } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';

type Rule = components['schemas']['BranchProtectionRule'];

const maxAttempts = 5;

export function register(program: Command): void {
  const group = program.command('branch-protect').description('protect branches by name pattern');

  group
    .command('list')
    .description('list the patterns of protected branches')
    .argument('<repository URI>')
    .action(
      action<[string]>(async (context, [uriText]) => {
        const { repository } = context.uris.repository(uriText, 'repository URI');
        const rules = await context.client.get('/repositories/{repository}/settings/branch_protection', {
          params: { path: { repository } },
        });
        if (context.out.json) {
          context.out.document(rules);
          return;
        }
        context.out.table(
          ['Branch Name Pattern'],
          rules.map((rule) => [rule.pattern]),
        );
        context.out.line();
      }),
    );

  group
    .command('add')
    .description('protect the branches that match a pattern')
    .argument('<repository URI>')
    .argument('<pattern>')
    .addHelpText('after', "\nExample:\n  svcctl branch-protect add svc://my-repo 'stable_*'")
    .action(
      action<[string, string]>((context, [uriText, pattern]) =>
        changeRules(context, uriText, (rules) =>
          rules.some((rule) => rule.pattern === pattern) ? rules : [...rules, { pattern }],
        ),
      ),
    );

  group
    .command('delete')
    .description('end the protection by a pattern')
    .argument('<repository URI>')
    .argument('<pattern>')
    .action(
      action<[string, string]>((context, [uriText, pattern]) =>
        changeRules(context, uriText, (rules) => {
          const rest = rules.filter((rule) => rule.pattern !== pattern);
          if (rest.length === rules.length)
            throw new CliError(`there is no rule with the pattern "${pattern}"`);
          return rest;
        }),
      ),
    );
}

/** Reads, changes and writes the rules under their ETag; somebody else's change in between means another try. */
async function changeRules(
  context: CommandContext,
  uriText: string,
  change: (rules: readonly Rule[]) => readonly Rule[],
): Promise<void> {
  const { repository } = context.uris.repository(uriText, 'repository URI');
  const path = { repository };
  for (let attempt = 1; ; attempt += 1) {
    const { data: rules, header } = await context.client.getWithHeaders(
      '/repositories/{repository}/settings/branch_protection',
      { params: { path } },
    );
    const changed = change(rules);
    if (changed === rules) return;
    const etag = header('etag');
    try {
      await context.client.put('/repositories/{repository}/settings/branch_protection', {
        params: { path, ...(etag !== undefined && { header: { 'If-Match': etag } }) },
        body: [...changed],
      });
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || attempt >= maxAttempts) throw error;
    }
  }
}
