import type { Command } from 'commander';
import { presignOption } from '../commands/fs/presign-option.ts';
import type { CommandContext } from '../context.ts';
import { positiveNumber } from '../list-flag.ts';

export interface TransferFlags {
  readonly parallelism?: number;
  readonly preSign: boolean;
  readonly progress: boolean;
}

/** `-p`, `--pre-sign` and `--no-progress`. */
export function withTransferFlags(command: Command): Command {
  return command
    .option(
      '-p, --parallelism <n>',
      'how many objects at once (default 25, or options.parallelism)',
      positiveNumber,
    )
    .addOption(presignOption())
    .option('--no-progress', 'do not show progress');
}

export function parallelismOf(context: CommandContext, flags: TransferFlags): number {
  return flags.parallelism ?? context.config.get('options.parallelism');
}
