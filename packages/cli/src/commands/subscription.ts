import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { UsageError } from '../errors.ts';
import { collectList, parsePairs } from '../list-flag.ts';
import { confirm } from '../prompt.ts';

const path = '/events/subscriptions/{subscription}';

interface ChoiceFlags {
  readonly url?: string;
  readonly types?: readonly string[];
  readonly subject?: string;
  readonly format?: string;
  readonly ordering?: string;
  readonly header?: readonly string[];
  readonly description?: string;
}

interface CreateFlags extends ChoiceFlags {
  readonly url: string;
  readonly repo?: string;
  readonly from?: string;
}

function withChoices(command: Command): Command {
  return command
    .option('--types <types>', 'only events of these types, such as svc.branch.*', collectList)
    .option('--subject <subject>', 'only events about this, such as branch/main')
    .option(
      '--format <format>',
      'cloudevents, or s3: what changed in the objects of branches, as S3 tells of it',
    )
    .option('--ordering <ordering>', 'ref: in order per branch or tag; all: in one order')
    .option('--header <name=value>', 'a header to send along', collectList)
    .option('--description <text>', 'what it is for');
}

function choicesOf(flags: ChoiceFlags) {
  const format = formatOf(flags.format);
  const ordering = orderingOf(flags.ordering);
  return {
    ...(flags.types !== undefined && { types: [...flags.types] }),
    ...(flags.subject !== undefined && { subject: flags.subject }),
    ...(format !== undefined && { format }),
    ...(ordering !== undefined && { ordering }),
    ...(flags.header !== undefined && { headers: parsePairs(flags.header) }),
    ...(flags.description !== undefined && { description: flags.description }),
  };
}

function formatOf(text: string | undefined): 'cloudevents' | 's3' | undefined {
  if (text === undefined || text === 'cloudevents' || text === 's3') return text;
  throw new UsageError(`--format: '${text}' is neither cloudevents nor s3`);
}

function orderingOf(text: string | undefined): 'ref' | 'all' | undefined {
  if (text === undefined || text === 'ref' || text === 'all') return text;
  throw new UsageError(`--ordering: '${text}' is neither ref nor all`);
}

export function register(program: Command): void {
  const subscription = program
    .command('subscription')
    .description('have events sent to web addresses, and see what became of them');

  withChoices(
    subscription
      .command('create')
      .description('have events sent to a web address')
      .requiredOption('--url <url>', 'where to send them')
      .option('--repo <repository URI>', 'only events of this repository')
      .option('--from <sequence>', 'latest, oldest, or the number of the event after which to begin'),
  ).action(
    action<[], CreateFlags>(async ({ client, out, uris }, _args, flags) => {
      const repository =
        flags.repo === undefined ? undefined : uris.repository(flags.repo, '--repo').repository;
      const made = await client.post('/events/subscriptions', {
        body: {
          url: flags.url,
          ...(repository !== undefined && { repository }),
          ...(flags.from !== undefined && { from: flags.from }),
          ...choicesOf(flags),
        },
      });
      if (out.json) {
        out.document(made);
        return;
      }
      out.line(`Subscription ${made.id} ${made.state} from ${made.cursor}`);
      out.line(`Secret: ${made.secret} (will not be shown again)`);
    }),
  );

  subscription
    .command('list')
    .description('list subscriptions')
    .option('--repo <repository URI>', 'only those of this repository')
    .action(
      action<[], { repo?: string }>(async ({ client, out, uris }, _args, flags) => {
        const repository =
          flags.repo === undefined ? undefined : uris.repository(flags.repo, '--repo').repository;
        const page = await client.get('/events/subscriptions', {
          params: { query: repository === undefined ? {} : { repository } },
        });
        if (out.json) {
          out.document(page);
          return;
        }
        out.table(
          ['Subscription', 'URL', 'Repository', 'Types', 'State', 'Lag'],
          page.results.map((one) => [
            one.id,
            one.url,
            one.repository ?? '',
            one.types.join(','),
            one.state,
            String(one.lag),
          ]),
        );
        out.line();
      }),
    );

  subscription
    .command('show')
    .description('show a subscription')
    .argument('<id>')
    .action(
      action<[string]>(async ({ client, out }, [id]) => {
        out.document(await client.get(path, { params: { path: { subscription: id } } }));
      }),
    );

  withChoices(
    subscription
      .command('update')
      .description('change a subscription, or stop and resume it')
      .argument('<id>')
      .option('--url <url>', 'where to send events')
      .option('--enable', 'go on where it stopped')
      .option('--disable', 'send nothing'),
  ).action(
    action<[string], ChoiceFlags & { enable?: boolean; disable?: boolean }>(
      async ({ client, out }, [id], flags) => {
        if (flags.enable === true && flags.disable === true) {
          throw new UsageError('--enable and --disable exclude each other');
        }
        const changed = await client.patch(path, {
          params: { path: { subscription: id } },
          body: {
            ...(flags.url !== undefined && { url: flags.url }),
            ...choicesOf(flags),
            ...(flags.enable === true && { enabled: true }),
            ...(flags.disable === true && { enabled: false }),
          },
        });
        out.document(changed);
      },
    ),
  );

  subscription
    .command('delete')
    .description('delete a subscription with what it has not delivered')
    .argument('<id>')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { yes?: boolean }>(async ({ client }, [id], flags) => {
        await confirm({
          yes: flags.yes,
          question: `Delete subscription ${id}?`,
          operation: 'delete subscription',
        });
        await client.delete(path, { params: { path: { subscription: id } } });
      }),
    );

  subscription
    .command('test')
    .description('send a test event now')
    .argument('<id>')
    .action(
      action<[string]>(async ({ client, out }, [id]) => {
        const tested = await client.post(`${path}/test`, { params: { path: { subscription: id } } });
        if (out.json) out.document(tested);
        else if (tested.error === undefined)
          out.line(`The receiver answered ${tested.status_code} in ${tested.duration_ms} ms`);
        else out.line(`Failed after ${tested.duration_ms} ms: ${tested.error}`);
      }),
    );

  subscription
    .command('rotate-secret')
    .description('sign with a new secret; the old one signs as well for a day')
    .argument('<id>')
    .action(
      action<[string]>(async ({ client, out }, [id]) => {
        const { secret } = await client.post(`${path}/rotate_secret`, {
          params: { path: { subscription: id } },
        });
        if (out.json) out.document({ secret });
        else out.line(`Secret: ${secret} (will not be shown again)`);
      }),
    );

  subscription
    .command('deliveries')
    .description('list deliveries that fail or are given up')
    .argument('<id>')
    .option('--dead', 'only those that are given up')
    .action(
      action<[string], { dead?: boolean }>((context, [id], flags) =>
        printDeliveries(context, id, flags.dead),
      ),
    );

  subscription
    .command('redeliver')
    .description('try deliveries that failed again')
    .argument('<id>')
    .option('--sequence <n>', 'the number of an event', collectList)
    .option('--all', 'every one that failed')
    .action(
      action<[string], { sequence?: readonly string[]; all?: boolean }>(
        async ({ client, out }, [id], flags) => {
          const { count } = await client.post(`${path}/deliveries/redeliver`, {
            params: { path: { subscription: id } },
            body: flags.all === true ? { all: true } : { sequences: [...(flags.sequence ?? [])] },
          });
          if (out.json) out.document({ count });
          else out.line(`${count} deliveries are tried again`);
        },
      ),
    );
}

async function printDeliveries(
  { client, out }: CommandContext,
  id: string,
  dead: boolean | undefined,
): Promise<void> {
  const page = await client.get(`${path}/deliveries`, {
    params: { path: { subscription: id }, query: dead === true ? { state: 'dead' } : {} },
  });
  if (out.json) {
    out.document(page);
    return;
  }
  out.table(
    ['Sequence', 'State', 'Attempts', 'Next attempt', 'Last answer'],
    page.results.map((one) => [
      one.sequence,
      one.state,
      String(one.attempts),
      one.next_attempt ?? '',
      one.last_error ?? '',
    ]),
  );
  out.line();
}
