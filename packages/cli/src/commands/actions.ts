import type { components } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { hookOutput } from '../hook-output.ts';
import { readInput } from '../input.ts';
import { wholeNumber } from '../list-flag.ts';
import { fetchPages, printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import type { Style } from '../output/style.ts';
import { formatUri, type RefUri } from '../uri.ts';
import { validateActions } from '../validate-actions.ts';

type HookRun = components['schemas']['HookRun'];

export function register(program: Command): void {
  const actions = program.command('actions').description('runs of hooks, and checking action files');
  const runs = actions.command('runs').description('runs of hooks');
  registerList(runs);
  registerDescribe(runs);
  registerRerun(runs);

  actions
    .command('validate')
    .description('check an action file without a server, or those of a ref')
    .argument(
      '<file | ref URI>',
      'the file, - for standard input; or where the files of a repository are read',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  svcctl actions validate _svc_actions/format-check.yaml\n  svcctl actions validate svc://my-repo/main',
    )
    .action(
      action<[string]>(async (context, [file]) => {
        const { out, uris } = context;
        if (/^(?:svc|lakefs):\/\//.test(file)) {
          await validateRef(context, uris.ref(file, 'ref URI'));
          return;
        }
        const { ActionFileError, parseAction } = await import('@svc/actions/file');
        const text = (await readInput(file)).toString('utf8');
        try {
          parseAction(text);
        } catch (error) {
          if (!(error instanceof ActionFileError)) throw error;
          throw new CliError(`${file}:${error.line}: ${error.message}`);
        }
        out.line(`File validated successfully: '${file}'`);
      }),
    );
}

/** Whoever looks for runs of hooks should know why there are none. */
async function warnIfDisabled({ client, out }: CommandContext): Promise<void> {
  // Not everybody may read the configuration.
  const config = await client.get('/config').catch(() => undefined);
  if (config?.capabilities_config?.actions_enabled === false)
    out.warning('hooks are switched off on this server (actions.enabled): action files have no effect');
}

async function validateRef(context: CommandContext, uri: RefUri): Promise<void> {
  const { out } = context;
  await warnIfDisabled(context);
  const { files, problems } = await validateActions(context, uri);
  if (problems.length > 0) throw new CliError(problems.join('\n'));
  if (files.length === 0) out.line(`No action files in '${formatUri(uri)}'`);
  for (const file of files) out.line(`File validated successfully: '${file}'`);
}

function registerList(runs: Command): void {
  const list = runs.command('list').description('list the runs of a repository, newest first');
  withPageFlags(list.argument('<repository URI>'));
  // Runs have no names; scripts may give it all the same.
  list.options.find((option) => option.long === '--prefix')?.hideHelp();
  list
    .option('--branch <name>', 'only runs on this branch')
    .option('--commit <id>', 'only runs of this commit')
    .action(
      action<[string], PageFlags & { branch?: string; commit?: string }>(
        async (context, [uriText], flags) => {
          const { repository } = context.uris.repository(uriText, 'repository URI');
          const { branch = '', commit = '' } = flags;
          if (branch !== '' && commit !== '') throw new CliError("Can't specify 'commit' and 'branch'");
          await warnIfDisabled(context);
          return printPages(context, flags, {
            headers: ['Run ID', 'Event', 'Start Time', 'End Time', 'Branch', 'Commit ID', 'Status'],
            fetchPage: ({ amount, after }) =>
              context.client.get('/repositories/{repository}/actions/runs', {
                params: { path: { repository }, query: { amount, after, branch, commit } },
              }),
            row: (run) => [
              run.run_id,
              run.event_type,
              run.start_time,
              run.end_time ?? '',
              run.branch,
              run.commit_id,
              run.status,
            ],
          });
        },
      ),
    );
}

function registerDescribe(runs: Command): void {
  runs
    .command('describe')
    .description('show a run, its hooks and what they wrote')
    .argument('<repository URI>')
    .argument('<run id>')
    .option('--amount <n>', 'how many hooks to show, 0 for all', wholeNumber, 0)
    .option('--after <value>', 'show hooks after this hook run id', '')
    .action(
      action<[string, string], { amount: number; after: string }>(
        async (context, [uriText, runId], flags) => {
          const { client, out, uris } = context;
          const uri = uris.repository(uriText, 'repository URI');
          const path = { repository: uri.repository, run_id: runId };
          const run = await client.get('/repositories/{repository}/actions/runs/{run_id}', {
            params: { path },
          });
          const amount = flags.amount <= 0 ? Number.POSITIVE_INFINITY : flags.amount;
          const { results: hooks } = await fetchPages({ amount, after: flags.after, prefix: '' }, (query) =>
            client.get('/repositories/{repository}/actions/runs/{run_id}/hooks', {
              params: { path, query: { amount: query.amount, after: query.after } },
            }),
          );
          if (out.json) {
            out.document({ ...run, hooks });
            return;
          }
          out.line(`Repository: svc://${uri.repository}`);
          out.table(
            ['Run ID', 'Event', 'Branch', 'Start Time', 'End Time', 'Commit ID', 'Status'],
            [
              [
                out.paint(run.run_id, 'modified'),
                run.event_type,
                run.branch,
                run.start_time,
                run.end_time ?? '',
                run.commit_id,
                out.paint(run.status, hookStyles[run.status]),
              ],
            ],
          );
          for (const hook of hooks) await describeHook(context, path, hook);
          out.line();
        },
      ),
    );
}

function registerRerun(runs: Command): void {
  runs
    .command('rerun')
    .description('run the hooks after an event once more')
    .argument('<repository URI>')
    .argument('<run id>', 'a run after an event, such as post-commit')
    .addHelpText('after', '\nThe hooks run as the caller. The new run names the old one.')
    .action(
      action<[string, string]>(async ({ client, out, uris }, [uriText, runId]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const made = await client.post('/repositories/{repository}/actions/runs/{run_id}/rerun', {
          params: { path: { repository, run_id: runId } },
        });
        if (out.json) out.document(made);
        else out.line(`Run ID: ${made.run_id}`);
      }),
    );
}

const hookStyles: Record<HookRun['status'], Style> = {
  running: 'modified',
  completed: 'added',
  skipped: 'modified',
  failed: 'removed',
};

async function describeHook(
  context: CommandContext,
  path: { readonly repository: string; readonly run_id: string },
  hook: HookRun,
): Promise<void> {
  const { out } = context;
  const skipped = hook.status === 'skipped';
  out.table(
    ['Hook Run ID', 'Hook ID', 'Start Time', 'End Time', 'Action', 'Status'],
    [
      [
        out.paint(hook.hook_run_id, 'modified'),
        hook.hook_id,
        skipped ? '' : hook.start_time,
        hook.end_time ?? '',
        hook.action,
        out.paint(hook.status, hookStyles[hook.status]),
      ],
    ],
  );
  if (skipped) return;
  const output = await hookOutput(context, { ...path, hook_run_id: hook.hook_run_id });
  out.write(output);
  if (output !== '' && !output.endsWith('\n')) out.line();
}
