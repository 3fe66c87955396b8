import type { Command } from 'commander';
import type { GlobalOptions } from './global-options.ts';
import { addPreset, withPreset, type PresetFlags } from './preset-flags.ts';

type ExitWith = (code: number) => void;

const backupExamples = `
Example:
  $ svc -c config.yaml backup /backup/svc      while the server runs; again: only what is new is copied
  $ svc -c config.yaml restore /backup/svc     into the empty folders of the configuration
`;

/** Looking after an installation: doctor, backup, restore, another key-value store. */
export function addOperatorCommands(
  program: Command,
  globals: () => GlobalOptions,
  exitWith: ExitWith,
): void {
  addPreset(program.command('doctor').description('check stores, clocks, permissions, disks and versions'))
    .option('--json', 'one JSON object per finding')
    .addHelpText('after', '\nExit code: 0 a server can work, 1 it cannot; each finding says what to do.\n')
    .action(async (flags: PresetFlags & { json?: true }) => {
      const { doctor } = await import('./doctor.ts');
      exitWith(await doctor(withPreset(globals(), flags), flags));
    });
  addPreset(
    program
      .command('backup <folder>')
      .description('copy the local stores into a folder, while they are used')
      .addHelpText('after', backupExamples),
  ).action(async (folder: string, flags: PresetFlags) => {
    const { backup } = await import('./backup.ts');
    exitWith(await backup(withPreset(globals(), flags), folder));
  });
  addPreset(
    program
      .command('restore <folder>')
      .description('fill empty local stores from a backup')
      .addHelpText('after', backupExamples),
  ).action(async (folder: string, flags: PresetFlags) => {
    const { restore } = await import('./backup.ts');
    exitWith(await restore(withPreset(globals(), flags), folder));
  });
}

const importExamples = `
Example:
  $ svc -c svc.yaml import-installation --from lakefs.yaml
Stop every lakeFS server first. The store of svc.yaml must be empty; nothing is written to the other one.
`;

export function addImportInstallation(
  program: Command,
  globals: () => GlobalOptions,
  exitWith: ExitWith,
): void {
  addPreset(
    program
      .command('import-installation')
      .description('take over the repositories and users of a lakeFS installation')
      .requiredOption('--from <config>', 'configuration file of lakeFS')
      .addHelpText('after', importExamples),
  ).action(async (flags: PresetFlags & { from: string }) => {
    const { importInstallation } = await import('./import-installation.ts');
    exitWith(await importInstallation(withPreset(globals(), flags), flags.from));
  });
}

export function addMigrateStore(migrate: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  addPreset(
    migrate.command('store').description('copy everything into the key-value store of another configuration'),
  )
    .requiredOption('--to <config>', 'configuration file that names the other store')
    .addHelpText(
      'after',
      '\nExample:\n  $ svc -c local.yaml migrate store --to postgres.yaml\nStop every server first. Interrupted, it goes on where it was.\n',
    )
    .action(async (flags: PresetFlags & { to: string }) => {
      const { migrateStore } = await import('./migrate-store.ts');
      exitWith(await migrateStore(withPreset(globals(), flags), flags.to));
    });
}
