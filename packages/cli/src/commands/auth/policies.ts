import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { readJson } from '../../input.ts';
import { formatDate } from '../../output/format.ts';
import type { Output } from '../../output/output.ts';
import { printPages, withPageFlags, type PageFlags } from '../../pagination.ts';

type Policy = components['schemas']['Policy'];
type Statement = components['schemas']['Statement'];

interface IdFlags {
  readonly id: string;
}

const idFlag = '--id <policy>';
const idHelp = 'name of the policy';

export function registerPolicies(auth: Command): void {
  const policies = auth.command('policies').description('policies: who may do what');

  policies
    .command('create')
    .description('create a policy')
    .requiredOption(idFlag, idHelp)
    .requiredOption('--statement-document <file>', 'JSON file with the statements, - for standard input')
    .addHelpText(
      'after',
      '\nThe file:\n  {"statement": [{"action": ["fs:Read*"], "effect": "allow", "resource": "*"}]}',
    )
    .action(
      action<[], IdFlags & { statementDocument: string }>(async ({ client, out }, _args, flags) => {
        const document = await readJson<{ statement?: Statement[] }>(flags.statementDocument);
        if (!Array.isArray(document.statement)) {
          throw new CliError(`${flags.statementDocument} has no list "statement"`);
        }
        const made = await client.post('/auth/policies', {
          body: { id: flags.id, statement: document.statement },
        });
        if (!out.json) out.line(out.paint('Policy created successfully.', 'green'));
        printPolicy(out, made);
      }),
    );

  policies
    .command('show')
    .description('show a policy')
    .requiredOption(idFlag, idHelp)
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        printPolicy(
          out,
          await client.get('/auth/policies/{policyId}', { params: { path: { policyId: id } } }),
        );
      }),
    );

  policies
    .command('delete')
    .description('delete a policy')
    .requiredOption(idFlag, idHelp)
    .action(
      action<[], IdFlags>(async ({ client, out }, _args, { id }) => {
        await client.delete('/auth/policies/{policyId}', { params: { path: { policyId: id } } });
        out.info(`Policy deleted: ${id}`);
      }),
    );

  withPageFlags(policies.command('list').description('list policies')).action(
    action<[], PageFlags>((context, _args, flags) =>
      printPages(context, flags, {
        headers: ['Policy ID', 'Creation Date'],
        fetchPage: (query) => context.client.get('/auth/policies', { params: { query } }),
        row: (policy) => [policy.id, formatDate(policy.creation_date ?? 0)],
      }),
    ),
  );
}

function printPolicy(out: Output, policy: Policy): void {
  if (out.json) {
    out.document(policy);
    return;
  }
  const statement = policy.statement.map((item) => ({ ...item, resource: readableResource(item.resource) }));
  out.line();
  out.line(`ID: ${out.paint(policy.id, 'bold')}`);
  out.line(`Creation Date: ${formatDate(policy.creation_date ?? 0)}`);
  out.line('Statements:');
  out.line(JSON.stringify({ statement }, null, 2));
  out.line();
}

/** Several resources are stored as a JSON list in a string. */
function readableResource(resource: string): unknown {
  if (!resource.startsWith('[')) return resource;
  try {
    return JSON.parse(resource) as unknown;
  } catch {
    // An ordinary resource that looks like a list.
    return resource;
  }
}
