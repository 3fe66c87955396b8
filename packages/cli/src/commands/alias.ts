import type { Command } from 'commander';
import { action } from '../context.ts';
import { formatDate } from '../output/format.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { confirm } from '../prompt.ts';
import { bindingBody, placeOf, type BindingFlags } from './binding.ts';

interface SetFlags extends BindingFlags {
  readonly ifGeneration?: string;
}

export function register(program: Command): void {
  const alias = program.command('alias').description('bucket names that stand for a ref');

  withPageFlags(
    alias
      .command('list')
      .description('list aliases')
      .option('--repo <repository URI>', 'only of this repository'),
  ).action(
    action<[], PageFlags & { repo?: string }>((context, _args, flags) => {
      const repository =
        flags.repo === undefined ? undefined : context.uris.repository(flags.repo, '--repo').repository;
      return printPages(context, flags, {
        headers: ['Alias', 'Shows', 'Commit ID', 'Updated', 'By'],
        fetchPage: (query) =>
          context.client.get('/aliases', {
            params: { query: { ...query, ...(repository === undefined ? {} : { repository }) } },
          }),
        row: (item) => [
          item.name,
          placeOf(item),
          item.dangling ? 'dangling' : (item.commit_id ?? '').slice(0, 12),
          dateOf(item.updated_at),
          item.updated_by,
        ],
      });
    }),
  );

  alias
    .command('show')
    .description('show what an alias stands for')
    .argument('<name>')
    .action(
      action<[string]>(async ({ client, out }, [name]) => {
        const found = await client.get('/aliases/{alias}', { params: { path: { alias: name } } });
        if (out.json) out.document(found);
        else out.line(`${found.name} -> ${placeOf(found)} (generation ${found.generation})`);
      }),
    );

  withPageFlags(
    alias.command('log').description('list what an alias stood for, newest first').argument('<name>'),
  ).action(
    action<[string], PageFlags>((context, [name], flags) =>
      printPages(context, flags, {
        headers: ['ID', 'Time', 'Kind', 'From', 'To', 'By'],
        fetchPage: ({ after, amount }) =>
          context.client.get('/aliases/{alias}/log', {
            params: { path: { alias: name }, query: { after, amount } },
          }),
        row: (item) => [
          item.id,
          dateOf(item.time),
          item.kind,
          item.old === undefined ? '' : placeOf(item.old),
          item.new === undefined ? '' : placeOf(item.new),
          item.user,
        ],
      }),
    ),
  );

  const withTarget = (command: Command): Command =>
    command
      .argument('<name>')
      .argument('<ref or path URI>')
      .option('--pin', 'resolve the ref now, once and for all')
      .option('--read-only', 'refuse writes, also where it stands for a branch')
      .option('-m, --message <text>', 'a description');

  withTarget(alias.command('create').description('let a bucket name stand for a ref, or for a folder of it'))
    .addHelpText('after', '\nExample:\n  svcctl alias create prod svc://sales/main --pin')
    .action(
      action<[string, string], BindingFlags>(async (context, [name, uri], flags) => {
        const made = await context.client.post('/aliases', {
          body: { name, ...bindingBody(context, uri, flags) },
        });
        if (context.out.json) context.out.document(made);
        else context.out.line(`${made.name} -> ${placeOf(made)}`);
      }),
    );

  withTarget(alias.command('set').description('swap what an alias stands for, at once on every server'))
    .option('--if-generation <n>', 'only if nobody has moved it since')
    .addHelpText('after', '\nExample:\n  svcctl alias set prod svc://sales/main --pin')
    .action(
      action<[string, string], SetFlags>(async (context, [name, uri], flags) => {
        const { client, out } = context;
        const path = { alias: name };
        const before = await client.get('/aliases/{alias}', { params: { path } });
        const header = flags.ifGeneration === undefined ? {} : { 'If-Match': flags.ifGeneration };
        const body = bindingBody(context, uri, flags);
        const after = await client.put('/aliases/{alias}', { params: { path, header }, body });
        if (out.json) out.document(after);
        else
          out.line(`${name} -> ${placeOf(after)} (was ${placeOf(before)}, generation ${after.generation})`);
      }),
    );

  alias
    .command('rollback')
    .description('let an alias stand for what it stood for before')
    .argument('<name>')
    .option('--move <id>', 'before this move, as "svcctl alias log" shows it; the last one if absent')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { move?: string; yes?: boolean }>(async (context, [name], flags) => {
        await confirm({ yes: flags.yes, question: `Roll alias ${name} back?`, operation: 'roll back alias' });
        const body = flags.move === undefined ? {} : { move_id: flags.move };
        const after = await context.client.post('/aliases/{alias}/rollback', {
          params: { path: { alias: name } },
          body,
        });
        if (context.out.json) context.out.document(after);
        else context.out.line(`${name} -> ${placeOf(after)} (generation ${after.generation})`);
      }),
    );

  alias
    .command('delete')
    .description('delete an alias')
    .argument('<name>')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { yes?: boolean }>(async (context, [name], flags) => {
        await confirm({ yes: flags.yes, question: `Delete alias ${name}?`, operation: 'delete alias' });
        await context.client.delete('/aliases/{alias}', { params: { path: { alias: name } } });
        context.out.info(`Alias '${name}' deleted`);
      }),
    );
}

function dateOf(time: string): string {
  return formatDate(Math.floor(Date.parse(time) / 1000));
}
