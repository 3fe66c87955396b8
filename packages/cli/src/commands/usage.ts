import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';

type Report = components['schemas']['InstallationUsageReport'];

export function register(program: Command): void {
  const usage = program.command('usage', { hidden: true }).description('usage reports of the installation');
  usage
    .command('summary')
    .description('show how many calls were made per month')
    .action(
      action<[]>(async ({ client, out }) => {
        // The same answer also exists as text; this client asks for JSON.
        const report = (await client.get('/usage-report/summary')) as unknown as Report;
        if (out.json) {
          out.document(report);
          return;
        }
        out.line(`Usage for installation ID: ${report.installation_id}`);
        out.line();
        out.table(
          ['Year', 'Month', 'Count'],
          report.reports.map(({ year, month, count }) => [String(year), String(month), String(count)]),
        );
        out.line();
      }),
    );
}
