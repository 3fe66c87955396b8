import { STATUS_CODES } from 'node:http';
import { ApiError } from '@svc/client';
import { CommanderError, type Command } from 'commander';
import { CliError, ExitStatus, UsageError } from './errors.ts';
import { paint } from './output/style.ts';
import { createProgram } from './program.ts';

/** Runs the tool and answers its exit status: 0, or 1 for every failure (a plugin's own status passes through). */
export async function main(args: readonly string[]): Promise<number> {
  const program = await createProgram(firstWord(args));
  inheritSettings(program);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (error) {
    return report(error);
  }
}

/** The command's name: the first argument that is neither a global flag nor its value. */
export function firstWord(args: readonly string[]): string | undefined {
  const takesValue = new Set(['--base-uri', '-c', '--config', '--log-format', '--log-level', '--log-output']);
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (!word.startsWith('-')) return word === 'help' ? args[at + 1] : word;
    if (takesValue.has(word)) at += 1;
  }
  return undefined;
}

/** Sub-commands inherit neither the error style nor the exit rule by themselves. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}

function report(error: unknown): number {
  if (error instanceof ExitStatus) return error.status;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  const colour = process.stderr.isTTY && process.env['NO_COLOR'] === undefined;
  const print = (text: string): void => void process.stderr.write(`${text}\n`);
  if (error instanceof UsageError) print(`Error: ${error.message}`);
  else if (error instanceof ApiError) {
    print(paint(colour, error.message, 'red'));
    print(`${error.status} ${STATUS_CODES[error.status] ?? ''}`.trim());
  } else {
    print(paint(colour, describe(error), 'red'));
    if (error instanceof CliError) print('Command failed.');
  }
  return 1;
}

/** `fetch failed` alone helps nobody: the cause says which connection failed and how. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
