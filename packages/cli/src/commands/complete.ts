import type { Command } from 'commander';
import { complete } from '../completion/complete.ts';
import { CommandContext } from '../context.ts';
import { createProgram } from '../program.ts';

const capMs = 1000;

export function register(program: Command): void {
  program
    .command('__complete', { hidden: true })
    .description('offers for the last of the given words')
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const tree = await createProgram('*');
      // Somebody is typing: late answers and errors would only disturb.
      const timeout = new Promise<string[]>((resolve) => {
        setTimeout(resolve, capMs, []).unref();
      });
      const offers = await Promise.race([
        timeout,
        complete(tree, words, () => new CommandContext({ color: false })).catch(() => []),
      ]);
      for (const offer of offers) process.stdout.write(`${offer}\n`);
      process.exit(0);
    });
}
