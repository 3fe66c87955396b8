import { Option } from 'commander';
import type { Command } from 'commander';
import type { GlobalOptions } from './global-options.ts';

export interface PresetFlags {
  readonly config?: string;
  readonly localSettings?: true;
  readonly quickstart?: true;
}

export function globalsOf(flags: PresetFlags): GlobalOptions {
  return {
    file: flags.config,
    preset:
      flags.quickstart === true ? 'quickstart' : flags.localSettings === true ? 'local-settings' : undefined,
  };
}

/** The global flags may also stand behind the command, where people put them. */
export function addPreset(command: Command): Command {
  return command
    .addOption(new Option('-c, --config <path>', 'configuration file'))
    .addOption(new Option('--local-settings', 'local stores with development secrets (not for production)'))
    .addOption(new Option('--quickstart', 'local settings and a first user (not for production)'));
}

export function withPreset(globals: GlobalOptions, flags: PresetFlags): GlobalOptions {
  const own = globalsOf(flags);
  return { file: own.file ?? globals.file, preset: own.preset ?? globals.preset };
}
