import type { Command } from 'commander';
import { action } from '../context.ts';
import { UsageError } from '../errors.ts';
import { wholeNumber } from '../list-flag.ts';
import { printPages, type PageFlags } from '../pagination.ts';

interface AuditFlags extends Omit<PageFlags, 'prefix'> {
  readonly user?: string;
  readonly action?: string;
  readonly resource?: string;
  readonly result?: string;
  readonly sourceIp?: string;
  readonly since?: string;
  readonly until?: string;
}

const results = ['success', 'denied', 'failure'] as const;
type Result = (typeof results)[number];

function resultOf(text: string | undefined): Result | undefined {
  const found = results.find((result) => result === text);
  if (text !== undefined && found === undefined)
    throw new UsageError(`--result: '${text}' is none of ${results.join(', ')}`);
  return found;
}

function timeOf(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`${flag}: '${text}' is no time such as 2026-05-01T12:00:00Z`);
  return new Date(time).toISOString();
}

export function register(program: Command): void {
  program
    .command('audit')
    .description('show who did what when, newest first')
    .option('--user <user>', 'only what this user did')
    .option('--action <action>', 'only this operation or permission; * at the end stands for anything')
    .option('--resource <ARN>', 'only what was done to this; * at the end stands for anything')
    .option('--result <result>', 'success, denied or failure')
    .option('--source-ip <address>', 'only from this address')
    .option('--since <time>', 'not before this time')
    .option('--until <time>', 'not after this time')
    .option('--amount <n>', 'how many results to return', wholeNumber, 100)
    .option('--after <value>', 'show results after this value', '')
    .action(
      action<[], AuditFlags>(async (context, _args, flags) => {
        const result = resultOf(flags.result);
        const since = timeOf('--since', flags.since);
        const until = timeOf('--until', flags.until);
        const filter = {
          ...(flags.user !== undefined && { user: flags.user }),
          ...(flags.action !== undefined && { action: flags.action }),
          ...(flags.resource !== undefined && { resource: flags.resource }),
          ...(result !== undefined && { result }),
          ...(flags.sourceIp !== undefined && { source_ip: flags.sourceIp }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
        };
        await printPages(
          context,
          { ...flags, prefix: '' },
          {
            headers: ['Time', 'User', 'Action', 'Resource', 'Result', 'Source'],
            fetchPage: ({ after, amount }) =>
              context.client.get('/audit', { params: { query: { ...filter, after, amount } } }),
            row: (entry) => [
              entry.time,
              entry.user ?? '-',
              entry.action,
              entry.resource ?? '-',
              `${entry.result} (${entry.status})`,
              entry.source_ip,
            ],
          },
        );
      }),
    );
}
