import { copyDatabase, onBranch } from '@svc/metastore';
import type { Command } from 'commander';
import { checkedBranch, metastoreAction } from '../../metastore/metastore-action.ts';
import { openMetastore } from '../../metastore/open-metastore.ts';
import { catalogOptions, dbfsOption, dryRunOption, typeOptions } from './shared-options.ts';

interface CopySchemaFlags {
  readonly fromClientType?: string;
  readonly toClientType?: string;
  readonly metastoreUri?: string;
  readonly catalogId?: string;
  readonly fromSchema: string;
  readonly toBranch: string;
  readonly toSchema?: string;
  readonly dbfsRoot?: string;
  readonly dryRun?: boolean;
}

export function registerCopySchema(metastore: Command): void {
  const command = metastore
    .command('copy-schema')
    .description('create a schema like another one for a branch, without its tables')
    .requiredOption('--from-schema <schema>', 'the schema')
    .requiredOption('--to-branch <branch>', 'branch that its location is moved to')
    .option('--to-schema <schema>', 'name of the new one (default: the name of the branch)');
  catalogOptions(typeOptions(command))
    .addOption(dbfsOption())
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      '\nExample:\n  svcctl metastore copy-schema --from-schema sales --to-branch dev --to-schema sales_dev',
    )
    .action(
      metastoreAction<CopySchemaFlags>(async ({ config, out }, flags, keep) => {
        const branch = checkedBranch(flags.toBranch, '--to-branch');
        const { metastoreUri: address, catalogId, fromSchema } = flags;
        const toSchema = flags.toSchema ?? branch;
        const open = (type: string | undefined, typeFlag: string) =>
          keep(openMetastore(config, { type, typeFlag, address, catalogId }));
        const dryRun = flags.dryRun === true;
        out.info(`copy schema ${fromSchema} -> ${toSchema}`);
        const { location = '' } = await copyDatabase({
          from: { metastore: open(flags.fromClientType, '--from-client-type'), database: fromSchema },
          to: { metastore: open(flags.toClientType, '--to-client-type'), database: toSchema },
          relocate: onBranch(branch, flags.dbfsRoot),
          dryRun,
        });
        if (out.json) out.document({ from: fromSchema, to: toSchema, location, dry_run: dryRun });
        else
          out.line(`${dryRun ? 'dry run: ' : ''}schema created${location === '' ? '' : ` at ${location}`}`);
      }),
    );
}
