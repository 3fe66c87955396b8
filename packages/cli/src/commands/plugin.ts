import type { Command } from 'commander';
import { action } from '../context.ts';
import { listPlugins } from '../plugins.ts';

export function register(program: Command): void {
  const plugin = program
    .command('plugin')
    .description('work with plugins: programs on PATH named svcctl-<name> that become commands');
  plugin
    .command('list')
    .description('list the plugins on PATH')
    .action(
      action<[]>(({ out }) => {
        const names = listPlugins(process.env, (text) => {
          out.warning(text);
        });
        if (out.json) {
          out.document(names);
          return;
        }
        if (names.length === 0) {
          out.line('No plugins found on PATH.');
          return;
        }
        out.line('The following plugins are available:');
        for (const name of names) out.line(`  ${name}`);
      }),
    );
}
