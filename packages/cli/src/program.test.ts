import { describe, expect, it } from 'vitest';
import { firstWord } from './main.ts';
import { commandModules, createProgram } from './program.ts';
import { normaliseSwitches } from './switches.ts';

describe('the command tree', () => {
  it('describes every command in the root help as the command describes itself', async () => {
    const program = await createProgram('*');
    for (const module of commandModules) {
      const command = program.commands.find((candidate) => candidate.name() === module.name);
      expect(command?.description(), module.name).toBe(module.description);
      expect(command?.aliases() ?? [], module.name).toEqual(module.aliases ?? []);
    }
  });

  it('loads only the command that is called', async () => {
    const program = await createProgram('repo');
    const loaded = program.commands
      .filter((command) => command.commands.length > 0)
      .map((command) => command.name());
    expect(loaded).toEqual(['repo']);
  });

  it.each([
    [['repo', 'list'], 'repo'],
    [['--base-uri', 'svc://x', 'fs', 'ls'], 'fs'],
    [['--json', '--config=f', 'log'], 'log'],
    [['help', 'branch'], 'branch'],
    [['--help'], undefined],
  ])('finds the command in %j', (args, word) => {
    expect(firstWord(args).word).toBe(word);
  });

  it.each([
    ['fs cat --pre-sign svc://r/b/x', 'fs cat --pre-sign=true svc://r/b/x'],
    ['fs cat --pre-sign=false svc://r/b/x', 'fs cat --pre-sign=false svc://r/b/x'],
    ['branch delete --yes=true svc://r/b', 'branch delete --yes svc://r/b'],
    ['branch delete --yes=false svc://r/b', 'branch delete svc://r/b'],
    ['--json=1 --no-color=false commit -m --yes=true', '--json commit -m --yes=true'],
    ['blame --first-parent=T svc://r/b/x', 'blame --first-parent svc://r/b/x'],
    ['branch delete --yes=maybe', 'branch delete --yes=maybe'],
    ['branch delete -- --yes=true', 'branch delete -- --yes=true'],
  ])('reads the switches of %s', async (given, normal) => {
    expect(normaliseSwitches(await createProgram('*'), given.split(' ')).join(' ')).toBe(normal);
  });
});
