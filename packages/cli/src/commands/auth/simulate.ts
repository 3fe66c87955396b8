import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../../context.ts';
import { readJson } from '../../input.ts';
import type { Output } from '../../output/output.ts';
import { userOrSelf } from './current-user.ts';

type Simulation = components['schemas']['Simulation'];
type Statement = components['schemas']['Statement'];

interface SimulateFlags {
  readonly id?: string;
  readonly action: string;
  readonly resource: string;
  readonly sourceIp?: string;
  readonly policy?: string;
}

export function registerSimulate(auth: Command): void {
  auth
    .command('simulate')
    .description('tell whether a user may do something, and why')
    .option('--id <user>', 'name of the user (default: the current user)')
    .requiredOption('--action <action>', 'the action, such as fs:ReadObject')
    .requiredOption(
      '--resource <ARN>',
      'what it is done to, such as arn:svc:fs:::repository/lake/object/a, or *',
    )
    .option('--source-ip <address>', 'where the request comes from (default: this machine)')
    .option(
      '--policy <file>',
      'JSON file with a policy (id and statement) to try as if the user had it, - for standard input',
    )
    .action(
      action<[], SimulateFlags>(async (context, _args, flags) => {
        const { client, out } = context;
        const answer = await client.post('/auth/simulate', {
          body: {
            user: await userOrSelf(context, flags.id),
            action: flags.action,
            resource: flags.resource,
            ...(flags.sourceIp !== undefined && { source_ip: flags.sourceIp }),
            ...(flags.policy !== undefined && {
              policy: await readJson<{ id: string; statement: Statement[] }>(flags.policy),
            }),
          },
        });
        if (out.json) out.document(answer);
        else printSimulation(out, answer);
      }),
    );
}

const verdicts: Readonly<Record<Simulation['reason'], string>> = {
  allowed: 'Allowed',
  denied: 'Denied by a statement',
  not_allowed: 'Not allowed: no statement speaks of it',
};

function printSimulation(out: Output, answer: Simulation): void {
  out.line(out.paint(verdicts[answer.reason], answer.allowed ? 'green' : 'red'));
  if (answer.decided_by !== undefined) {
    const { policy, index, statement } = answer.decided_by;
    out.line(`Decided by: ${out.paint(policy, 'bold')}, statement ${index + 1}`);
    out.line(JSON.stringify(statement, null, 2));
  }
  out.line('Policies looked at:');
  out.table(
    ['Policy ID', 'Attached To'],
    answer.policies.map(({ id, attached_to_user: toUser, groups }) => [
      id,
      [...(toUser ? ['the user'] : []), ...groups.map((group) => `group ${group}`)].join(', '),
    ]),
  );
  if (answer.hidden_policies > 0) out.line(`and ${answer.hidden_policies} that you may not read`);
}
