import { ApiError, ClientError } from '@svc/client';
import { CommanderError, type Command } from 'commander';
import { CliError, ExitStatus, UsageError } from './errors.ts';
import { paint } from './output/style.ts';
import { commandModules, createProgram } from './program.ts';
import { normaliseSwitches } from './switches.ts';
import { isTerminal } from './terminal.ts';

/** Runs the tool and returns its exit status: 0, or 1 for any failure. A plugin's own status passes through. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const { word, index } = firstWord(args);
    if (args[index] === 'help' && word !== undefined && !isCommand(word)) {
      process.stderr.write(`Unknown help topic "${word}"\nRun 'svcctl --help' for usage.\n`);
      return 0;
    }
    let given = args;
    if (word !== undefined && args[index] === word && !isCommand(word)) {
      const { runPlugin } = await import('./plugins.ts');
      const status = await runPlugin(word, args.slice(index + 1), process.env);
      if (status !== undefined) return status;
      // Its flags mean nothing to us: only the word is unknown.
      given = args.slice(0, index + 1);
    }
    const program = await createProgram(word);
    nameUnknownCommands(program);
    inheritSettings(program);
    await program.parseAsync(normaliseSwitches(program, commandLine(given, index)), { from: 'user' });
    return 0;
  } catch (error) {
    return await report(error, args);
  }
}

function isCommand(word: string): boolean {
  const names = commandModules.flatMap((module) => [module.name, ...(module.aliases ?? [])]);
  return word === 'help' || names.includes(word);
}

/**
 * `help x` is `x --help`; flags after the command word of `bisect run` belong to that command, not to the tool.
 */
function commandLine(args: readonly string[], index: number): string[] {
  const [first, second, ...words] = args.slice(index);
  if (first === 'help' && second !== undefined) return [...args.slice(0, index), second, ...words, '--help'];
  const isRun = first === 'bisect' && second === 'run' && args[index + 2]?.startsWith('-') === false;
  const isComplete = first === '__complete';
  const at = isRun ? index + 2 : index + 1;
  return isRun || isComplete ? [...args.slice(0, at), '--', ...args.slice(at)] : [...args];
}

/** The command's name: the first argument that is neither a global flag nor its value. */
export function firstWord(args: readonly string[]): { word: string | undefined; index: number } {
  const takesValue = new Set(['--base-uri', '-c', '--config', '--log-format', '--log-level', '--log-output']);
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) return { word: word === 'help' ? args[at + 1] : word, index: at };
    if (takesValue.has(word)) at += 1;
  }
  return { word: undefined, index: args.length };
}

/** Sub-commands inherit neither the error style nor the exit rule by themselves. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    nameUnknownCommands(child);
    if (child.commands.length > 0) showHelpAlone(child);
    inheritSettings(child);
  }
}

/** A group without a sub-command shows its help; with an unknown one it says so. */
export function showHelpAlone(group: Command): void {
  group
    .helpCommand('help [command]', 'show the help of a command')
    .allowExcessArguments()
    .action(() => {
      if (group.args.length > 0) (group as Command & { unknownCommand: () => void }).unknownCommand();
      else group.outputHelp();
    });
}

export function nameUnknownCommands(command: Command): void {
  command.configureOutput({
    outputError: (text, write) => {
      const named = text.replace(/unknown command '(.*)'/, `unknown command "$1" for "${pathOf(command)}"`);
      write(named.replace(/^error: /, 'Error: '));
    },
  });
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

async function report(error: unknown, args: readonly string[]): Promise<number> {
  if (error instanceof ExitStatus) return error.status;
  const print = (text: string): void => void process.stderr.write(`${text}\n`);
  if (error instanceof CommanderError) {
    if (error.code === 'commander.unknownCommand') print("Run 'svcctl --help' for usage.");
    return error.exitCode === 0 ? 0 : 1;
  }
  const colour = isTerminal(!args.includes('--no-color'), process.env);
  if (error instanceof UsageError) print(`Error: ${error.message}`);
  else if (error instanceof ApiError) {
    const said = (error.body as { message?: unknown } | undefined)?.message;
    const { STATUS_CODES } = await import('node:http');
    const reason = `${error.status} ${STATUS_CODES[error.status] ?? ''}`.trim();
    const message = typeof said === 'string' ? said : '';
    print(paint(colour && message !== '', message, 'red'));
    print(reason);
  } else {
    print(paint(colour, describe(error), 'red'));
    print('Command failed.');
  }
  return 1;
}

/** A bare system error helps nobody: the cause says what failed and how. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof CliError || error instanceof ClientError) return error.message;
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
