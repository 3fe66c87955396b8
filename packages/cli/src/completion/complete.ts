import type { Command, Option } from 'commander';
import type { CommandContext } from '../context.ts';
import { scheme } from '../uri.ts';

const most = 1000;

/** What could stand for the last word. Commands and flags come from the tree, URIs from the server. */
export async function complete(
  program: Command,
  words: readonly string[],
  contextOf: () => CommandContext,
): Promise<string[]> {
  const current = words.at(-1) ?? '';
  let command = program;
  let position = 0;
  let pending: Option | undefined;
  for (const word of words.slice(0, -1)) {
    if (pending !== undefined) {
      pending = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = optionOf(command, word);
      pending = option !== undefined && option.required && !word.includes('=') ? option : undefined;
      continue;
    }
    const child = position === 0 ? childOf(command, word) : undefined;
    if (child === undefined) position += 1;
    else command = child;
  }
  if (pending !== undefined) return /URI/i.test(pending.flags) ? uris(current, contextOf) : [];
  if (current.startsWith('-')) {
    const names = [...command.options, ...(command === program ? [] : program.options)]
      .filter((option) => !option.hidden)
      .map((option) => option.long ?? option.short ?? '');
    return [...names, '--help'].filter((name) => name.startsWith(current));
  }
  if (position === 0 && command.commands.length > 0) {
    return command
      .createHelp()
      .visibleCommands(command)
      .map((child) => child.name())
      .filter((name) => name.startsWith(current));
  }
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[position] ?? (last?.variadic === true ? last : undefined);
  if (argument?.argChoices !== undefined) {
    return argument.argChoices.filter((choice) => choice.startsWith(current));
  }
  return argument !== undefined && /URI/.test(argument.name()) ? uris(current, contextOf) : [];
}

function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word || child.aliases().includes(word));
}

function optionOf(command: Command, word: string): Option | undefined {
  const name = word.split('=')[0];
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find((option) => option.long === name || option.short === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Repositories, then branches and tags, then paths one level at a time. */
async function uris(current: string, contextOf: () => CommandContext): Promise<string[]> {
  if (!current.startsWith(scheme)) return scheme.startsWith(current) ? [scheme] : [];
  const { client } = contextOf();
  const [repository = '', ref, ...path] = current.slice(scheme.length).split('/');
  if (ref === undefined) {
    const { results } = await client.get('/repositories', {
      params: { query: { prefix: repository, amount: most } },
    });
    return results.map((found) => `${scheme}${found.id}/`);
  }
  const start = `${scheme}${repository}/`;
  if (path.length === 0) {
    const params = { path: { repository }, query: { prefix: ref, amount: most } };
    const [branches, tags] = await Promise.all([
      client.get('/repositories/{repository}/branches', { params }),
      client.get('/repositories/{repository}/tags', { params }),
    ]);
    return [...branches.results, ...tags.results].map(({ id }) => `${start}${id}/`);
  }
  const { results } = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
    params: {
      path: { repository, ref: decodeURIComponent(ref) },
      query: { prefix: decodeURIComponent(path.join('/')), delimiter: '/', amount: most },
    },
  });
  return results.map((found) => `${start}${ref}/${found.path.replaceAll('%', '%25').replaceAll(' ', '%20')}`);
}
