import { diffTables, nameOf, type Differences } from '@svc/metastore';
import type { Command } from 'commander';
import { metastoreAction } from '../../metastore/metastore-action.ts';
import { openMetastore } from '../../metastore/open-metastore.ts';
import type { Output } from '../../output/output.ts';
import { catalogOptions, typeOptions } from './shared-options.ts';

interface DiffFlags {
  readonly fromClientType?: string;
  readonly toClientType?: string;
  readonly metastoreUri?: string;
  readonly catalogId?: string;
  readonly fromAddress?: string;
  readonly toAddress?: string;
  readonly fromSchema: string;
  readonly fromTable: string;
  readonly toSchema?: string;
  readonly toTable?: string;
}

export function registerDiff(metastore: Command): void {
  const command = metastore
    .command('diff')
    .description('compare columns and partitions of two tables')
    .requiredOption('--from-schema <schema>', 'schema of the first table')
    .requiredOption('--from-table <table>', 'the first table')
    .option('--to-schema <schema>', 'schema of the second (default: that of the first)')
    .option('--to-table <table>', 'the second table (default: the name of the first)');
  catalogOptions(typeOptions(command))
    .option('--from-address <address>', 'host:port of the Hive metastore of the first')
    .option('--to-address <address>', 'host:port of the Hive metastore of the second')
    .addHelpText(
      'after',
      `
+ is only in the first, - only in the second, ~ differs. That partitions lie elsewhere is no difference.

Example:
  svcctl metastore diff --from-schema sales --from-table orders --to-schema dev`,
    )
    .action(
      metastoreAction<DiffFlags>(async ({ config, out }, flags, keep) => {
        const { catalogId, metastoreUri } = flags;
        const from = {
          metastore: keep(
            openMetastore(config, {
              type: flags.fromClientType,
              typeFlag: '--from-client-type',
              address: flags.fromAddress ?? metastoreUri,
              catalogId,
            }),
          ),
          database: flags.fromSchema,
          table: flags.fromTable,
        };
        const to = {
          metastore: keep(
            openMetastore(config, {
              type: flags.toClientType,
              typeFlag: '--to-client-type',
              address: flags.toAddress ?? metastoreUri,
              catalogId,
            }),
          ),
          database: flags.toSchema ?? flags.fromSchema,
          table: flags.toTable ?? flags.fromTable,
        };
        out.info(`${nameOf(from)} <--> ${nameOf(to)}`);
        const { columns, partitions } = await diffTables(from, to);
        if (out.json) {
          out.document({ from: nameOf(from), to: nameOf(to), columns, partitions });
          return;
        }
        print(out, 'Columns', columns);
        print(out, 'Partitions', partitions);
      }),
    );
}

function print(out: Output, what: string, { added, removed, changed }: Differences): void {
  if (added.length + removed.length + changed.length === 0) {
    out.line(`${what} are identical`);
    return;
  }
  out.line(what);
  for (const name of added) out.line(out.paint(`+ ${name}`, 'added'));
  for (const name of removed) out.line(out.paint(`- ${name}`, 'removed'));
  for (const name of changed) out.line(out.paint(`~ ${name}`, 'modified'));
}
