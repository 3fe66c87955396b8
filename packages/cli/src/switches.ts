import type { Command, Option } from 'commander';
import { parseBoolean } from './terminal.ts';

/**
 * Every switch may be written `--name`, `--name=true` or `--name=false`, and none takes the word after it as its
 * value: `--pre-sign svc://…` names an object.
 */
export function normaliseSwitches(program: Command, args: readonly string[]): string[] {
  const normal: string[] = [];
  let command = program;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    if (word === '--') return [...normal, ...args.slice(at)];
    if (!word.startsWith('-')) {
      command =
        command.commands.find((child) => child.name() === word || child.aliases().includes(word)) ?? command;
      normal.push(word);
      continue;
    }
    const [name, value] = splitOnce(word);
    const option = findOption(command, name);
    if (option?.optional === true && value === undefined) normal.push(`${word}=true`);
    else if (isSwitch(option) && value !== undefined) normal.push(...plain(word, name, value));
    else normal.push(word);
    if (option?.required === true && value === undefined && at + 1 < args.length) {
      at += 1;
      normal.push(args[at] as string);
    }
  }
  return normal;
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function isSwitch(option: Option | undefined): boolean {
  return option !== undefined && (option.negate || option.isBoolean());
}

/** Leaves anything but true and false for the parser to refuse. */
function plain(word: string, name: string, text: string): string[] {
  const value = parseBoolean(text);
  if (value === undefined) return [word];
  return value ? [name] : [];
}

/** Flags of the command, or of those above it. */
function findOption(command: Command, name: string): Option | undefined {
  for (let each: Command | null = command; each !== null; each = each.parent) {
    const option = each.options.find((candidate) => candidate.long === name || candidate.short === name);
    if (option !== undefined) return option;
  }
  return undefined;
}
