import type { Command } from 'commander';
import { registerCopyAll, registerImportAll } from './copy-all.ts';
import { registerCopySchema } from './copy-schema.ts';
import { registerCopy } from './copy.ts';
import { registerCreateSymlink } from './create-symlink.ts';
import { registerDiff } from './diff.ts';

export function register(program: Command): void {
  const metastore = program
    .command('metastore')
    .description('copy tables of Hive and Glue metastores to branches, and compare them');
  registerCopy(metastore);
  registerCopyAll(metastore);
  registerCopySchema(metastore);
  registerCreateSymlink(metastore);
  registerDiff(metastore);
  registerImportAll(metastore);
}
