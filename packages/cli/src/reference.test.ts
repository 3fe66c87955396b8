import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { complete } from './completion/complete.ts';
import { createProgram } from './program.ts';
import { commandReference } from './reference.ts';

it('docs/cli.md is what the commands say of themselves (npm run docs writes it)', async () => {
  const file = join(import.meta.dirname, '../../../docs/cli.md');
  expect(readFileSync(file, 'utf8')).toBe(await commandReference());
});

function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
}

it('shows the same help as ever', async () => {
  const program = await createProgram('*');
  for (const command of all(program)) {
    command.configureHelp({ helpWidth: 100 });
    expect(command.helpInformation()).toMatchSnapshot(command.name());
  }
});

it.each([
  [['re'], ['reflog', 'repo']],
  [['repo', 'cr'], ['create']],
  [['repo', 'create', '--def'], ['--default-branch']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
  [['fs', 'ls', 'sv'], ['svc://']],
  [['log', 'x', '--log-l'], ['--log-level']],
  [['branch', 'create', 'svc://r/b', '--source', 's'], ['svc://']],
  [['commit', '-m', 'x'], []],
])('completes %j', async (words, offers) => {
  const program = await createProgram('*');
  const found = await complete(program, words, () => expect.unreachable());
  expect(found).toEqual(offers);
});
