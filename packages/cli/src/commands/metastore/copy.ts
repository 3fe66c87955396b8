import { copyPartition, copyTable, nameOf, onBranch } from '@svc/metastore';
import type { Command } from 'commander';
import { collectList } from '../../list-flag.ts';
import { CopyProgress } from '../../metastore/copy-progress.ts';
import { outcomeText } from '../../metastore/copy-text.ts';
import { checkedBranch, metastoreAction } from '../../metastore/metastore-action.ts';
import { openMetastore } from '../../metastore/open-metastore.ts';
import { catalogOptions, dbfsOption, dryRunOption, typeOptions } from './shared-options.ts';

interface CopyFlags {
  readonly fromClientType?: string;
  readonly toClientType?: string;
  readonly metastoreUri?: string;
  readonly catalogId?: string;
  readonly fromSchema: string;
  readonly fromTable: string;
  readonly toBranch: string;
  readonly toSchema?: string;
  readonly toTable?: string;
  readonly serde?: string;
  readonly partition?: readonly string[];
  readonly dbfsRoot?: string;
  readonly dryRun?: boolean;
  readonly progress: boolean;
}

export function registerCopy(metastore: Command): void {
  const command = metastore
    .command('copy')
    .description('copy a table, or bring a copy up to date, so that it shows the data of a branch')
    .requiredOption('--from-schema <schema>', 'schema of the table')
    .requiredOption('--from-table <table>', 'the table')
    .requiredOption('--to-branch <branch>', 'branch that the copy shows')
    .option('--to-schema <schema>', 'schema of the copy (default: the name of the branch)')
    .option('--to-table <table>', 'name of the copy (default: that of the table)')
    .option('--serde <name>', 'name of its serde (default: that of the copy)')
    .option('-p, --partition <values>', 'copy this partition alone: its values in order', collectList);
  catalogOptions(typeOptions(command))
    .addOption(dbfsOption())
    .addOption(dryRunOption())
    .option('--no-progress', 'do not show progress')
    .addHelpText(
      'after',
      `
The copy is made when it is not there. Otherwise the table is altered, partitions that are new are added, those that
changed are altered, and those that are gone are dropped; no data is touched.

Examples:
  svcctl metastore copy --from-schema sales --from-table orders --to-branch dev
  svcctl metastore copy --from-schema sales --from-table orders --to-branch dev --to-schema sales_dev -p 2026,11`,
    )
    .action(
      metastoreAction<CopyFlags>(async ({ config, out }, flags, keep) => {
        const branch = checkedBranch(flags.toBranch, '--to-branch');
        const { metastoreUri: address, catalogId } = flags;
        const toTable = flags.toTable ?? flags.fromTable;
        const from = {
          metastore: keep(
            openMetastore(config, {
              type: flags.fromClientType,
              typeFlag: '--from-client-type',
              address,
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
              address,
              catalogId,
            }),
          ),
          database: flags.toSchema ?? branch,
          table: toTable,
        };
        const dryRun = flags.dryRun === true;
        out.info(`copy ${nameOf(from)} -> ${nameOf(to)}`);
        const progress = new CopyProgress(flags.progress);
        const request = {
          from,
          to,
          rewrite: {
            serde: flags.serde ?? toTable,
            relocate: onBranch(branch, flags.dbfsRoot),
            fixSparkPlaceholder: config.get('metastore.fix_spark_placeholder'),
          },
          dryRun,
          onProgress: progress.show.bind(progress),
        };
        try {
          const outcome = await (flags.partition === undefined
            ? copyTable(request)
            : copyPartition(request, flags.partition));
          progress.clear();
          if (out.json) out.document({ from: nameOf(from), to: nameOf(to), ...outcome, dry_run: dryRun });
          else out.line(outcomeText(outcome, dryRun));
        } finally {
          progress.clear();
        }
      }),
    );
}
