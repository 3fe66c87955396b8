import type { components } from '@svc/client';
import type { Command } from 'commander';
import { appendFileSync, writeFileSync } from 'node:fs';
import { cancellable } from '../cancel.ts';
import { action, type CommandContext } from '../context.ts';
import { parseDuration } from '../duration.ts';
import { CliError, UsageError } from '../errors.ts';
import { readJson } from '../input.ts';
import { collectList, wholeNumber } from '../list-flag.ts';
import { formatDate } from '../output/format.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { printPages } from '../pagination.ts';
import { checkedPoll, pollTask, withPollFlags, type PollFlags } from '../poll.ts';
import { confirm } from '../prompt.ts';

type Run = components['schemas']['GcRun'];
type Rules = components['schemas']['GarbageCollectionRules'];
type Settings = components['schemas']['GcSettings'];
type Kind = 'condemned' | 'deleted' | 'kept' | 'failed';

const kinds: readonly Kind[] = ['condemned', 'deleted', 'kept', 'failed'];
const hourMs = 3_600_000;
const repositoryArgument = '<repository URI>';

interface RunFlags extends PollFlags {
  readonly dryRun?: boolean;
  readonly hard?: boolean;
  readonly class?: readonly string[];
  readonly maxPercent?: number;
  readonly rules?: string;
  readonly takeOver?: boolean;
  readonly wait: boolean;
  readonly yes?: boolean;
}

/** The commands of the built-in collector. */
export function registerRuns(gc: Command): void {
  registerRun(gc);
  registerStates(gc);
  registerRescue(gc);
  registerSettings(gc);
}

function registerRun(gc: Command): void {
  withPollFlags(
    gc
      .command('run')
      .description('collect the garbage of a repository')
      .argument(repositoryArgument)
      .option('--dry-run', 'only find out what is garbage')
      .option('--hard', 'delete data at once, without the days in which mistakes can be undone')
      .option('--class <classes>', 'only these: objects, metadata, uploads', collectList)
      .option('--max-percent <n>', 'stop when more of the objects would go', wholeNumber)
      .option('--rules <file>', 'with --dry-run: what these rules would free, - for standard input')
      .option('--take-over', 'collect a namespace that another installation collected before')
      .option('--no-wait', 'print the run id and do not wait')
      .option('-y, --yes', 'do not ask')
      .addHelpText('after', '\nExample:\n  svcctl gc run svc://my-repo --dry-run'),
    '24h0m0s',
  ).action(
    action<[string], RunFlags>(async (context, [uriText], flags) => {
      const { client, out, uris } = context;
      const { repository } = uris.repository(uriText, 'repository URI');
      checkedPoll(flags);
      if (flags.rules !== undefined && flags.dryRun !== true) throw new UsageError('--rules needs --dry-run');
      const rules = flags.rules === undefined ? undefined : await readJson<Rules>(flags.rules);
      if (flags.hard === true) {
        const question = `Data of '${repository}' that nothing uses goes at once and cannot be brought back. Go on?`;
        await confirm({ question, operation: 'garbage collection', yes: flags.yes });
      }
      if (flags.takeOver === true) {
        const question = `Does nothing else use the namespace of '${repository}'?`;
        await confirm({ question, operation: 'garbage collection', yes: flags.yes });
      }
      const { id } = await client.post('/repositories/{repository}/gc/runs', {
        params: { path: { repository } },
        body: {
          dry_run: flags.dryRun === true,
          hard: flags.hard === true,
          take_over: flags.takeOver === true,
          ...(flags.class === undefined
            ? {}
            : { classes: flags.class as ('objects' | 'metadata' | 'uploads')[] }),
          ...(flags.maxPercent === undefined ? {} : { max_percent: flags.maxPercent }),
          ...(rules === undefined ? {} : { rules }),
        },
      });
      if (!flags.wait) {
        out.line(id);
        return;
      }
      const run = await follow(context, repository, id, flags);
      if (run.state !== 'completed') {
        throw new CliError(`run ${id} ${run.state}: ${run.error?.message ?? 'no reason was given'}`);
      }
      showReport(context, run);
    }),
  );
}

/** Waits for the end of a run. Whoever stops waiting stops nothing else. */
async function follow(
  context: CommandContext,
  repository: string,
  id: string,
  flags: PollFlags,
): Promise<Run> {
  const line = new ProgressLine();
  const left = `no longer waiting; run ${id} goes on. To stop it: svcctl gc cancel svc://${repository} ${id}`;
  try {
    return await cancellable(left, async (signal) => {
      const { run } = await pollTask(
        flags,
        async () => {
          const state = await readRun(context, repository, id);
          const isDone = state.state !== 'queued' && state.state !== 'running';
          if (!isDone) line.show(progressOf(state));
          return { run: state, done: isDone, update_time: state.update_time };
        },
        signal,
      );
      return run;
    });
  } finally {
    line.stop();
  }
}

function progressOf({ id, state, phase, done, total }: Run): string {
  if (state === 'queued' || phase === undefined) return `run ${id}: ${state}`;
  const counted = total === undefined ? String(done) : `${done} of ${total}`;
  return `run ${id}: ${phase}, ${counted} ${phase === 'marking' ? 'commits' : 'objects'}`;
}

function readRun({ client }: CommandContext, repository: string, run: string): Promise<Run> {
  return client.get('/repositories/{repository}/gc/runs/{run}', { params: { path: { repository, run } } });
}

async function lastRun(context: CommandContext, repository: string, run: string | undefined): Promise<Run> {
  if (run !== undefined) return readRun(context, repository, run);
  const page = await context.client.get('/repositories/{repository}/gc/runs', {
    params: { path: { repository }, query: { amount: 1 } },
  });
  const [last] = page.results;
  if (last === undefined) throw new CliError(`'${repository}' was never collected`);
  return last;
}

const headers = ['Run', 'State', 'Phase', 'Start', 'End', 'Deleted objects', 'Deleted bytes'];

function row(run: Run): string[] {
  const sum = (part: 'objects' | 'bytes'): number =>
    run.report?.classes.reduce((total, { deleted }) => total + deleted[part], 0) ?? 0;
  const time = (seconds: number | undefined): string => (seconds === undefined ? '' : formatDate(seconds));
  return [
    run.id,
    run.state,
    run.phase ?? '',
    time(run.start_date),
    time(run.end_date),
    String(sum('objects')),
    String(sum('bytes')),
  ];
}

function showReport({ out }: CommandContext, run: Run): void {
  if (out.json) {
    out.document(run);
    return;
  }
  const { report } = run;
  out.line(`Run: ${run.id}${run.options.dry_run === true ? ' (dry run)' : ''}`);
  if (run.error !== undefined) out.line(`Error: ${run.error.message}`);
  if (report === undefined) return;
  const count = ({ objects, bytes }: { objects: number; bytes: number }): string => `${objects} (${bytes} B)`;
  out.table(
    ['Class', 'Garbage', 'Condemned', 'Due', 'Deleted', 'Rescued', 'Failed'],
    report.classes.map((line) => [
      line.class,
      ...[line.garbage, line.condemned, line.due, line.deleted, line.rescued, line.failed].map(count),
    ]),
  );
  out.line(`Listed: ${count(report.listed)}, in use or young: ${count(report.live)}`);
  out.line(`Not ours: ${count(report.unknown)}`);
  for (const held of report.held) out.line(`Used by ${held.repository}: ${count(held.count)}`);
  if (report.store_deletion === 'versioned' || report.store_deletion === 'soft') {
    out.line('The store keeps what is deleted for a time, by rules of its own.');
  }
  const stayed = report.dry_run
    ? 0
    : report.classes.reduce(
        (sum, row) => sum + row.due.objects - row.deleted.objects - row.failed.objects,
        0,
      );
  if (stayed > 0) {
    out.line(
      `Due but not deleted: ${stayed}. They came into use again, or the moves of branches and tags have been recorded for less than 27 hours.`,
    );
  }
  const roots = report.roots ?? [];
  if (roots.length > 0) {
    out.line('');
    out.table(
      ['Kept by', 'Commits', 'Objects', 'Kept by nothing else'],
      roots.map((root) => [
        root.branch_id === undefined ? root.root : `branch ${root.branch_id}`,
        String(root.commits),
        count(root),
        count({ objects: root.only_objects, bytes: root.only_bytes }),
      ]),
    );
  }
  if (report.next_due !== undefined) out.line(`Next due: ${formatDate(report.next_due)}`);
}

function registerStates(gc: Command): void {
  gc.command('list')
    .description('list garbage collections, newest first')
    .argument(repositoryArgument)
    .option('--amount <n>', 'how many runs to show', wholeNumber, 100)
    .option('--after <run>', 'show runs before this one', '')
    .action(
      action<[string], { amount: number; after: string }>((context, [uriText], flags) => {
        const { repository } = context.uris.repository(uriText, 'repository URI');
        return printPages(
          context,
          { ...flags, prefix: '' },
          {
            headers,
            fetchPage: ({ after, amount }) =>
              context.client.get('/repositories/{repository}/gc/runs', {
                params: { path: { repository }, query: { after, amount } },
              }),
            row,
          },
        );
      }),
    );

  gc.command('status')
    .description('show how far a run is; the last one without a run id')
    .argument(repositoryArgument)
    .argument('[run]')
    .action(
      action<[string, string | undefined]>(async (context, [uriText, id]) => {
        const { repository } = context.uris.repository(uriText, 'repository URI');
        const run = await lastRun(context, repository, id);
        if (context.out.json) context.out.document(run);
        else context.out.table(headers, [row(run)]);
      }),
    );

  gc.command('report')
    .description('show what a run found and did; the last one without a run id')
    .argument(repositoryArgument)
    .argument('[run]')
    .option('--objects <kind>', `list objects: ${kinds.join(', ')}`)
    .option('-o, --output <file>', 'write the list to a file')
    .action(
      action<[string, string | undefined], { objects?: string; output?: string }>(
        async (context, [uriText, id], flags) => {
          const { repository } = context.uris.repository(uriText, 'repository URI');
          const run = await lastRun(context, repository, id);
          if (flags.objects === undefined) {
            showReport(context, run);
            return;
          }
          const kind = kinds.find((name) => name === flags.objects);
          if (kind === undefined) throw new UsageError(`--objects must be one of ${kinds.join(', ')}`);
          if (flags.output !== undefined) writeFileSync(flags.output, '');
          for (let after = ''; ;) {
            const page = await context.client.get('/repositories/{repository}/gc/runs/{run}/objects', {
              params: { path: { repository, run: run.id }, query: { kind, after, amount: 1000 } },
            });
            const lines = page.results.map((item) => `${item.address}\t${item.size_bytes}\t${item.class}`);
            if (flags.output === undefined) for (const line of lines) context.out.line(line);
            else appendFileSync(flags.output, lines.map((line) => `${line}\n`).join(''));
            if (!page.pagination.has_more) break;
            after = page.pagination.next_offset;
          }
        },
      ),
    );

  gc.command('quarantine')
    .description('show how much waits to be deleted, and until when')
    .argument(repositoryArgument)
    .action(
      action<[string]>(async ({ client, out, uris }, [uriText]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const list = await client.get('/repositories/{repository}/gc/quarantine', {
          params: { path: { repository } },
        });
        if (out.json) {
          out.document(list);
          return;
        }
        out.line(`Objects: ${list.objects}`);
        out.line(`Bytes: ${list.bytes}`);
        if (list.next_due !== undefined) out.line(`Next due: ${formatDate(list.next_due)}`);
      }),
    );

  gc.command('cancel')
    .description('stop a run before it deletes more')
    .argument(repositoryArgument)
    .argument('<run>')
    .action(
      action<[string, string]>(async ({ client, uris }, [uriText, run]) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        await client.post('/repositories/{repository}/gc/runs/{run}/cancel', {
          params: { path: { repository, run } },
        });
      }),
    );
}

function registerRescue(gc: Command): void {
  gc.command('rescue')
    .description('keep the data of a commit, or let every window begin anew')
    .argument('<repository URI | ref URI>')
    .option('--days <n>', 'how long; 0 ends it', wholeNumber, 30)
    .option('--all', 'everything that is condemned waits its whole window again')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { days: number; all?: boolean; yes?: boolean }>(
        async ({ client, uris }, [uriText], flags) => {
          const { repository, ref } = uris.any(uriText, 'repository or ref URI');
          if (flags.all === true) {
            const question = `Let every window of '${repository}' begin anew?`;
            await confirm({ question, operation: 'rescue', yes: flags.yes });
          }
          await client.post('/repositories/{repository}/gc/rescue', {
            params: { path: { repository } },
            body: { days: flags.days, all: flags.all === true, ...(ref === undefined ? {} : { ref }) },
          });
        },
      ),
    );
}

interface SettingsFlags {
  readonly enabled?: string;
  readonly interval?: string;
  readonly quarantine?: string;
}

function registerSettings(gc: Command): void {
  gc.command('settings')
    .description('show or set when a repository is collected')
    .argument(repositoryArgument)
    .option('--enabled <value>', 'on, off or inherit')
    .option('--interval <duration>', 'time between runs, such as 24h')
    .option('--quarantine <duration>', 'how long garbage waits, such as 168h')
    .action(
      action<[string], SettingsFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const { repository } = uris.repository(uriText, 'repository URI');
        const params = { path: { repository } };
        const now = await client.get('/repositories/{repository}/settings/gc', { params });
        const { enabled, interval, quarantine } = flags;
        if (enabled === undefined && interval === undefined && quarantine === undefined) {
          if (out.json) out.document(now);
          else for (const [name, value] of Object.entries(now)) out.line(`${name}: ${value}`);
          return;
        }
        const body: Settings = {
          ...now,
          ...(enabled === undefined ? {} : { enabled: enabled as Settings['enabled'] }),
          ...(interval === undefined ? {} : { interval_hours: hours('--interval', interval) }),
          ...(quarantine === undefined ? {} : { quarantine_hours: hours('--quarantine', quarantine) }),
        };
        await client.put('/repositories/{repository}/settings/gc', { params, body });
      }),
    );
}

function hours(flag: string, text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds % hourMs !== 0) {
    throw new UsageError(`${flag} "${text}" is not a number of hours, such as 24h`);
  }
  return milliseconds / hourMs;
}
