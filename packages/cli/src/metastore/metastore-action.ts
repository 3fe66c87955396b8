import { isBranchName, isRepositoryName, MetastoreError, type Metastore } from '@svc/metastore';
import { action, type CommandContext } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';

type Run<Flags> = (
  context: CommandContext,
  flags: Flags,
  /** Closes it in the end. */
  keep: <T extends Metastore>(metastore: T) => T,
) => Promise<void>;

/** A command on metastores: whatever it opens is closed, and their refusals are told as they are. */
export function metastoreAction<Flags>(run: Run<Flags>): (...parameters: unknown[]) => Promise<void> {
  return action<[], Flags>(async (context, _args, flags) => {
    const open: Metastore[] = [];
    try {
      await run(context, flags, (metastore) => {
        open.push(metastore);
        return metastore;
      });
    } catch (error) {
      if (error instanceof MetastoreError) throw new CliError(error.message);
      throw error;
    } finally {
      for (const metastore of open) metastore.close();
    }
  });
}

export function checkedBranch(name: string, flag: string): string {
  if (!isBranchName(name)) throw new UsageError(`${flag} "${name}" is not the name of a branch`);
  return name;
}

export function checkedRepository(name: string, flag: string): string {
  if (!isRepositoryName(name)) {
    throw new UsageError(`${flag} "${name}" is not the name of a repository`);
  }
  return name;
}
