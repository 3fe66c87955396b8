import { Argument, type Command } from 'commander';
import { action } from '../context.ts';
import { completionScripts, shells, type Shell } from '../completion/scripts.ts';

export function register(program: Command): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(shells))
    .addHelpText(
      'after',
      `
To load it:
  bash:  source <(svcctl completion bash)
  zsh:   source <(svcctl completion zsh)
  fish:  svcctl completion fish | source`,
    )
    .action(
      action<[Shell]>(({ out }, [shell]) => {
        out.write(completionScripts[shell]);
      }),
    );
}
