import { describe, expect, it } from 'vitest';
import { firstWord } from './main.ts';
import { commandModules, createProgram } from './program.ts';

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
});
