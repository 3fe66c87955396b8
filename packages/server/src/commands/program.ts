import { Argument, Command, CommanderError, Option } from 'commander';
import { ConfigError, ConfigFileError } from '../config/index.ts';
import { errorText } from '../logging/index.ts';
import type { WorkerProcesses } from '../processes/worker-processes.ts';
import { version } from '../version.ts';
import { complete, completionScript, completionShells } from './completion.ts';
import type { flare as FlareCommand } from './flare.ts';
import type { GlobalOptions } from './global-options.ts';
import { addImportInstallation, addMigrateStore, addOperatorCommands } from './operator-commands.ts';
import { addPreset, globalsOf, withPreset, type PresetFlags } from './preset-flags.ts';

interface ProgramOptions {
  readonly processes: WorkerProcesses;
  readonly argv: readonly string[];
}

const examples = `
Examples:
  $ svc run --quickstart                 try it: local stores, a first user, http://localhost:8000
  $ svc -c /etc/svc/config.yaml run      serve with a configuration file
  $ svc setup --user-name admin          create the first administrator
  $ svc config print                     every setting, its value and where it came from
`;

/** Parses the command line, runs the command and turns every failure into a sentence and an exit code. */
export async function runCommand(options: ProgramOptions): Promise<number> {
  // Whoever reads our output may have seen enough (`svc config print | head`).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  let exitCode = 0;
  const program = createProgram(options, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(options.argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    process.stderr.write(describeFailure(error));
    return 1;
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof ConfigError) {
    const fatal = error.problems.filter((problem) => problem.startsWith('FATAL: '));
    const lines = fatal.length > 0 ? fatal : error.problems.map((problem) => `  ${problem}`);
    return fatal.length > 0
      ? `${lines.join('\n')}\n`
      : `svc: the configuration cannot be used:\n${lines.join('\n')}\nEvery key is described in docs/configuration.md.\n`;
  }
  if (error instanceof ConfigFileError) return `svc: ${error.message}\n`;
  return `svc: ${errorText(error)}\n`;
}

export function createProgram(options: ProgramOptions, exitWith: (code: number) => void): Command {
  const program = new Command('svc')
    .description('Version control for data in object stores: the server.')
    .version(version, '-v, --version', 'print the version')
    .option('-c, --config <path>', 'configuration file')
    .addOption(new Option('--local-settings', 'local stores with development secrets (not for production)'))
    .addOption(new Option('--quickstart', 'local settings and a first user (not for production)'))
    .helpOption('-h, --help', 'show help')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('(add --help for the commands and options)')
    .exitOverride()
    .addHelpText('after', examples);
  const globals = (): GlobalOptions => globalsOf(program.opts());

  addPreset(
    program
      .command('run')
      .description('start the server')
      .addOption(
        new Option(
          '-m, --allow-mismatched-repos',
          'start although repositories do not fit the block store',
        ).hideHelp(),
      ),
  ).action(async (flags: { allowMismatchedRepos?: true } & PresetFlags) => {
    const { run } = await import('./run.ts');
    exitWith(
      await run(withPreset(globals(), flags), {
        allowMismatchedRepositories: flags.allowMismatchedRepos === true,
        processes: options.processes,
      }),
    );
  });
  addUserCommands(program, globals, exitWith);
  addMigrate(program, globals, exitWith);
  addKv(program, globals, exitWith);
  addVerify(program, globals, exitWith);
  addOperatorCommands(program, globals, exitWith);
  addImportInstallation(program, globals, exitWith);
  addTools(program, globals, exitWith);
  return program;
}

type ExitWith = (code: number) => void;

function addUserCommands(program: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  const withKeys = (command: Command): Command =>
    addPreset(command)
      .requiredOption('--user-name <name>', 'name of the administrator')
      .addOption(
        new Option('--access-key-id <id>', 'access key id to use instead of a generated one').hideHelp(),
      )
      .addOption(new Option('--secret-access-key <secret>', 'its secret').hideHelp());
  withKeys(
    program
      .command('setup')
      .alias('init')
      .description('prepare the stores and create the first administrator')
      .addOption(new Option('--no-check', 'succeed when it was done before').hideHelp())
      .addHelpText('after', '\nExample:\n  $ svc -c config.yaml setup --user-name admin\n'),
  ).action(async (flags: PresetFlags & { userName: string; check: boolean }) => {
    const { setup } = await import('./setup.ts');
    exitWith(await setup(withPreset(globals(), flags), flags));
  });
  withKeys(
    program
      .command('superuser')
      .description('create one more administrator')
      .addHelpText('after', '\nExample:\n  $ svc -c config.yaml superuser --user-name rescue\n'),
  ).action(async (flags: PresetFlags & { userName: string }) => {
    const { superuser } = await import('./setup.ts');
    exitWith(await superuser(withPreset(globals(), flags), flags));
  });
}

function addMigrate(program: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  const migrate = program.command('migrate').description('version of the stored records');
  addPreset(migrate.command('version').description('print the schema version')).action(
    async (flags: PresetFlags) => {
      const { migrateVersion } = await import('./migrate.ts');
      exitWith(await migrateVersion(withPreset(globals(), flags)));
    },
  );
  addPreset(migrate.command('up').description('bring the store to the version of this program'))
    .option('--force', 'also when the store is up to date')
    .action(async (flags: PresetFlags) => {
      const { migrateTo } = await import('./migrate.ts');
      exitWith(await migrateTo(withPreset(globals(), flags)));
    });
  addPreset(migrate.command('goto').description('bring the store to one version'))
    .requiredOption('--version <n>', 'the version', Number)
    .option('--force', 'also when the store is at that version')
    .action(async (flags: PresetFlags & { version: number }) => {
      const { migrateTo } = await import('./migrate.ts');
      exitWith(await migrateTo(withPreset(globals(), flags), flags.version));
    });
  addMigrateStore(migrate, globals, exitWith);
  const task = migrate.command('task').description('named one-off tasks');
  task
    .command('list')
    .description('list the tasks')
    .action(async () => {
      const { migrateTaskList } = await import('./migrate.ts');
      exitWith(migrateTaskList());
    });
  task
    .command('run <name>')
    .description('run a task')
    .option('--dry-run', 'only say what would be done')
    .action(async (name: string) => {
      const { migrateTaskRun } = await import('./migrate.ts');
      exitWith(migrateTaskRun(name));
    });
}

function addKv(program: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  const kv = program.command('kv', { hidden: true }).description('look into the key-value store');
  addPreset(kv.command('get <partition> <key>').description('print one entry'))
    .option('--pretty', 'several lines')
    .action(async (partition: string, key: string, flags: PresetFlags & { pretty?: true }) => {
      const { kvGet } = await import('./kv.ts');
      exitWith(await kvGet(withPreset(globals(), flags), partition, key, flags.pretty === true));
    });
  addPreset(kv.command('scan <partition> [start]').description('print entries in key order'))
    .option('--limit <n>', 'at most this many; 0 for all', Number, 0)
    .option('--until <key>', 'end before this key')
    .option('--pretty', 'several lines per entry')
    .action(async (partition: string, start: string | undefined, flags: PresetFlags & ScanFlags) => {
      const { kvScan } = await import('./kv.ts');
      const { limit, until, pretty = false } = flags;
      exitWith(await kvScan(withPreset(globals(), flags), partition, { start, limit, until, pretty }));
    });
  addPreset(kv.command('dump').description('write entries as one JSON document'))
    .option('--output <file>', 'file instead of standard output')
    .option('--sections <list>', 'auth, pulls, kv (all three by default)')
    .option('--all', 'every partition')
    .option('--repo <id>', 'one repository')
    .option('--pretty', 'several lines per entry')
    .action(async (flags: PresetFlags & DumpFlags) => {
      const { kvDump } = await import('./kv.ts');
      exitWith(await kvDump(withPreset(globals(), flags), { ...flags, pretty: flags.pretty === true }));
    });
  addPreset(kv.command('load').description('write the entries of a dump into the store'))
    .option('--input <file>', 'file instead of standard input')
    .option('--sections <list>', 'only these sections')
    .option('--strategy <name>', 'skip keeps existing entries, overwrite replaces them', 'skip')
    .action(async (flags: PresetFlags & { input?: string; sections?: string; strategy: string }) => {
      const { kvLoad } = await import('./kv.ts');
      exitWith(await kvLoad(withPreset(globals(), flags), flags));
    });
}

const verifyExamples = `
Examples:
  $ svc -c config.yaml verify                  every repository
  $ svc -c config.yaml verify lake models      two of them
  $ svc -c config.yaml verify --objects        also the data of what branches and tags show
  $ svc -c config.yaml verify --json > found   one JSON object per line
Exit code: 0 nothing is damaged, 1 something is, 2 the verification could not be finished.
`;

function addVerify(program: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  addPreset(
    program
      .command('verify')
      .argument('[repository...]', 'repositories to verify; all when none is given')
      .description('read everything committed and list what is damaged')
      .option('--objects', 'also read the data of every object that a branch or tag shows')
      .option('--json', 'one JSON object per line')
      .addHelpText('after', verifyExamples),
  ).action(async (repositories: string[], flags: PresetFlags & { json?: true; objects?: true }) => {
    const { verify } = await import('./verify.ts');
    exitWith(await verify(withPreset(globals(), flags), repositories, flags));
  });
}

interface ScanFlags {
  readonly limit: number;
  readonly until?: string;
  readonly pretty?: true;
}

interface DumpFlags {
  readonly output?: string;
  readonly sections?: string;
  readonly all?: true;
  readonly repo?: string;
  readonly pretty?: true;
}

function addTools(program: Command, globals: () => GlobalOptions, exitWith: ExitWith): void {
  const config = program.command('config').description('the effective configuration');
  addPreset(config.command('print').description('print every key, its value and where it came from'))
    .option('--json', 'as JSON')
    .action(async (flags: PresetFlags & { json?: true }) => {
      const { configPrint } = await import('./config-print.ts');
      exitWith(configPrint(withPreset(globals(), flags), flags));
    });
  addPreset(program.command('flare').description('collect what support needs to know, without secrets'))
    .option('-p, --package', 'as one zip file')
    .option('--no-include-env-vars', 'leave out environment variables')
    .option('-o, --output <folder>', 'where the bundle is written', '.')
    .option('--env-var-filename <name>', 'file of the variables', 'svc-env.txt')
    .option('--zip-filename <name>', 'name of the zip file', 'svc-flare.zip')
    .option('--stdout', 'print it instead')
    .action(async (flags: PresetFlags & Parameters<typeof FlareCommand>[1]) => {
      const { flare } = await import('./flare.ts');
      exitWith(flare(withPreset(globals(), flags), flags));
    });
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(completionShells))
    .action((shell: string) => {
      process.stdout.write(completionScript(shell) ?? '');
    });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action((words: string[]) => {
      for (const candidate of complete(program, words)) process.stdout.write(`${candidate}\n`);
    });
}
