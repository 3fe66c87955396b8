import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { commandReference } from '../reference.ts';

export function register(program: Command): void {
  program
    .command('docs', { hidden: true })
    .description('print the reference of all commands as Markdown')
    .argument('[outfile]')
    .action(
      action<[string | undefined]>(async ({ out }, [file]) => {
        const text = await commandReference();
        if (file === undefined) out.write(text);
        else writeFileSync(file, text);
      }),
    );
}
