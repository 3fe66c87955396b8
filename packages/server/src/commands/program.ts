import { Command, CommanderError, Option } from 'commander';
import { ConfigError, ConfigFileError } from '../config/index.ts';
import { errorText } from '../logging/index.ts';
import { version } from '../version.ts';
import type { GlobalOptions } from './global-options.ts';
import { workerArgument } from './main.ts';

interface ProgramOptions {
  readonly program: string;
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
        program: options.program,
        workerArguments: [workerArgument],
      }),
    );
  });
  return program;
}

interface PresetFlags {
  readonly config?: string;
  readonly localSettings?: true;
  readonly quickstart?: true;
}

function globalsOf(flags: PresetFlags): GlobalOptions {
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
