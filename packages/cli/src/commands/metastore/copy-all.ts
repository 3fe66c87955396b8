import {
  copyAll,
  inRepository,
  onBranch,
  parseHiveAddress,
  type Metastore,
  type Relocate,
} from '@svc/metastore';
import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { CommandContext } from '../../context.ts';
import { CliError, UsageError } from '../../errors.ts';
import { checkedBranch, checkedRepository, metastoreAction } from '../../metastore/metastore-action.ts';
import { openMetastore } from '../../metastore/open-metastore.ts';
import { CopyAllOutput } from '../../metastore/copy-all-output.ts';
import { dbfsOption, dryRunOption, typeOptions } from './shared-options.ts';

interface CopyAllFlags {
  readonly fromClientType?: string;
  readonly toClientType?: string;
  readonly fromAddress?: string;
  readonly toAddress?: string;
  readonly schemaFilter: string;
  readonly tableFilter: string;
  readonly branch: string;
  readonly continueOnError?: boolean;
  readonly dbfsRoot?: string;
  readonly dryRun?: boolean;
  readonly progress: boolean;
}

type Keep = <T extends Metastore>(metastore: T) => T;

export function registerCopyAll(metastore: Command): void {
  const command = metastore
    .command('copy-all')
    .description('copy all tables to another metastore, so that they show the data of a branch')
    .requiredOption('--branch <branch>', 'branch that the copies show');
  sharedOptions(command)
    .addHelpText(
      'after',
      `${filterHelp}
Example:
  svcctl metastore copy-all --from-client-type hive --from-address hive:9083 \\
    --to-client-type hive --to-address hive-dev:9083 --schema-filter 'sales*' --branch dev`,
    )
    .action(
      metastoreAction<CopyAllFlags>(async (context, flags, keep) => {
        const branch = checkedBranch(flags.branch, '--branch');
        await run(context, flags, keep, onBranch(branch, flags.dbfsRoot));
      }),
    );
}

export function registerImportAll(metastore: Command): void {
  const command = metastore
    .command('import-all')
    .description('copy all tables to another metastore, so that they show what was imported to a repository')
    .requiredOption('--repo <repository>', 'repository that the buckets of the tables were imported to')
    .requiredOption('--branch <branch>', 'its branch');
  sharedOptions(command)
    .addHelpText(
      'after',
      `
A table at s3://bucket/path is at s3://<repository>/<branch>/path in the copy.
${filterHelp}
Example:
  svcctl metastore import-all --from-client-type hive --from-address hive:9083 \\
    --to-client-type glue --repo my-repo --branch main --dry-run`,
    )
    .action(
      metastoreAction<CopyAllFlags & { readonly repo: string }>(async (context, flags, keep) => {
        const branch = checkedBranch(flags.branch, '--branch');
        const repository = checkedRepository(flags.repo, '--repo');
        await run(context, flags, keep, inRepository(repository, branch, flags.dbfsRoot));
      }),
    );
}

const filterHelp = `
Filters are matched with whole names: by Hive as its own patterns (* for anything, | for or), for Glue as regular
expressions. A schema that is missing is made; existing copies are brought up to date.
`;

function sharedOptions(command: Command): Command {
  return typeOptions(command)
    .option('--from-address <address>', 'host:port of the Hive metastore to copy from (metastore.hive.uri)')
    .option('--to-address <address>', 'host:port of the Hive metastore to copy to (metastore.hive.uri)')
    .option('--schema-filter <pattern>', 'which schemas', '.*')
    .option('--table-filter <pattern>', 'which tables', '.*')
    .option('--continue-on-error', 'go on with the next table when one fails; the exit status is then 1')
    .addOption(dbfsOption())
    .addOption(dryRunOption())
    .option('--no-progress', 'do not show progress');
}

async function run(
  { config, out }: CommandContext,
  flags: CopyAllFlags,
  keep: Keep,
  relocate: Relocate,
): Promise<void> {
  refuseOneMetastore(config, flags);
  const from = keep(
    openMetastore(config, {
      type: flags.fromClientType,
      typeFlag: '--from-client-type',
      address: flags.fromAddress,
    }),
  );
  const to = keep(
    openMetastore(config, {
      type: flags.toClientType,
      typeFlag: '--to-client-type',
      address: flags.toAddress,
    }),
  );
  const dryRun = flags.dryRun === true;
  const report = new CopyAllOutput(out, flags.progress, dryRun);
  const { copied, failed } = await copyAll({
    from,
    to,
    databases: flags.schemaFilter,
    tables: flags.tableFilter,
    rewrite: { relocate, fixSparkPlaceholder: config.get('metastore.fix_spark_placeholder') },
    warehouse:
      to.kind === 'hive'
        ? config.get('metastore.hive.db_location_uri')
        : config.get('metastore.glue.db_location_uri'),
    continueOnError: flags.continueOnError === true,
    dryRun,
    report,
  });
  report.end(copied, failed);
  if (failed > 0) throw new CliError(`${failed} of ${failed + copied} could not be copied`);
}

/** Copies have the names of their tables: in the same metastore they would take their place. */
function refuseOneMetastore(config: Config, flags: CopyAllFlags): void {
  const type = config.get('metastore.type');
  const fromType = flags.fromClientType ?? type;
  if (fromType !== (flags.toClientType ?? type)) return;
  if (fromType === 'glue') {
    throw new UsageError('both sides are the same Glue catalog: its tables would be changed in place');
  }
  if (fromType !== 'hive') return;
  const uri = config.get('metastore.hive.uri');
  const [from, to] = [flags.fromAddress ?? uri, flags.toAddress ?? uri].map((address) =>
    address === '' ? undefined : parseHiveAddress(address),
  );
  if (from !== undefined && from.host === to?.host && from.port === to.port) {
    throw new UsageError(
      '--from-address and --to-address are the same: its tables would be changed in place',
    );
  }
}
