import { createSymlinkTable, nameOf } from '@svc/metastore';
import type { Command } from 'commander';
import { outcomeText } from '../../metastore/copy-text.ts';
import { checkedBranch, checkedRepository, metastoreAction } from '../../metastore/metastore-action.ts';
import { openMetastore } from '../../metastore/open-metastore.ts';
import { dryRunOption } from './shared-options.ts';

interface SymlinkFlags {
  readonly fromClientType?: string;
  readonly catalogId?: string;
  readonly repo: string;
  readonly branch: string;
  readonly path: string;
  readonly fromSchema: string;
  readonly fromTable: string;
  readonly toSchema: string;
  readonly toTable: string;
  readonly dryRun?: boolean;
}

export function registerCreateSymlink(metastore: Command): void {
  metastore
    .command('create-symlink')
    .description('make a table in Glue that reads the objects of a branch where they are stored')
    .requiredOption('--repo <repository>', 'repository of the table')
    .requiredOption('--branch <branch>', 'branch that the table is on')
    .requiredOption('--path <path>', 'path of the table on the branch')
    .requiredOption('--from-schema <schema>', 'schema of the table')
    .requiredOption('--from-table <table>', 'the table')
    .requiredOption('--to-schema <schema>', 'schema of the new one, in Glue')
    .requiredOption('--to-table <table>', 'name of the new one')
    .option('--from-client-type <type>', 'hive or glue: where the table is (metastore.type)')
    .option('--catalog-id <id>', 'Glue catalog (metastore.glue.catalog_id; default: of the account)')
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      `
The server lists the addresses of the objects below the path in symlink files beside the data of the repository; the
table reads those. Run it again after commits that the table should show.

Example:
  svcctl metastore create-symlink --repo my-repo --branch main --path sales/orders/ --from-client-type hive \\
    --from-schema sales --from-table orders --to-schema sales --to-table orders_main`,
    )
    .action(
      metastoreAction<SymlinkFlags>(async (context, flags, keep) => {
        const { config, out } = context;
        const { catalogId } = flags;
        const repository = checkedRepository(flags.repo, '--repo');
        const branch = checkedBranch(flags.branch, '--branch');
        const type = flags.fromClientType;
        const from = {
          metastore: keep(openMetastore(config, { type, typeFlag: '--from-client-type', catalogId })),
          database: flags.fromSchema,
          table: flags.fromTable,
        };
        const to = {
          metastore: keep(openMetastore(config, { type: 'glue', typeFlag: '', catalogId })),
          database: flags.toSchema,
          table: flags.toTable,
        };
        out.info(`create symlink ${nameOf(from)} -> ${nameOf(to)}`);
        const dryRun = flags.dryRun === true;
        const { location, outcome } = await createSymlinkTable({
          from,
          to,
          repository,
          branch,
          fixSparkPlaceholder: config.get('metastore.fix_spark_placeholder'),
          dryRun,
          async writeSymlinks() {
            const written = await context.client.post('/repositories/{repository}/refs/{branch}/symlink', {
              params: { path: { repository, branch }, query: { location: flags.path } },
            });
            return written.location;
          },
        });
        if (out.json) {
          out.document({ from: nameOf(from), to: nameOf(to), location, ...outcome, dry_run: dryRun });
        } else {
          if (!dryRun) out.line(`Location: ${location}`);
          out.line(outcomeText(outcome, dryRun));
        }
      }),
    );
}
