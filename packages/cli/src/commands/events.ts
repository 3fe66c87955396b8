import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { expectStatus } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { collectList, wholeNumber } from '../list-flag.ts';

interface EventFlags {
  readonly types?: readonly string[];
  readonly subject?: string;
  readonly user?: string;
  readonly showHidden?: boolean;
  readonly after?: string;
  readonly amount: number;
  readonly follow?: boolean;
}

/** What the server asks readers to wait before they come back. */
const reconnectMs = 2000;
const pageSize = 1000;

export function register(program: Command): void {
  program
    .command('events')
    .description('show what happened, one CloudEvent a line, and follow what happens')
    .argument('[repository URI]')
    .option('--types <types>', 'only these types, such as svc.branch.moved or svc.tag.*', collectList)
    .option('--subject <subject>', 'only events about this, such as branch/main or branch/dev-*')
    .option('--user <user>', 'only what this user did')
    .option('--show-hidden', 'also events of hidden branches')
    .option('--after <sequence>', 'only events after the one with this number')
    .option('--amount <n>', 'how many events to show; 0 shows all', wholeNumber, 100)
    .option('-f, --follow', 'go on with what happens from now on, until it is interrupted')
    .addHelpText(
      'after',
      "\nExamples:\n  svcctl events svc://my-repo --types 'svc.branch.*'\n  svcctl events --follow",
    )
    .action(
      action<[string | undefined], EventFlags>(async (context, [uriText], flags) => {
        const repository =
          uriText === undefined ? undefined : context.uris.repository(uriText, 'repository URI').repository;
        const request = requestOf(repository, flags);
        if (flags.follow === true) await follow(context, request, flags.after);
        else await printPages(context, request, flags);
      }),
    );
}

interface EventsRequest {
  readonly path: '/events' | '/repositories/{repository}/events';
  readonly repository: string | undefined;
  readonly filters: Readonly<Record<string, unknown>>;
}

function requestOf(repository: string | undefined, flags: EventFlags): EventsRequest {
  return {
    path: repository === undefined ? '/events' : '/repositories/{repository}/events',
    repository,
    filters: {
      ...(flags.types !== undefined && { types: [...flags.types] }),
      ...(flags.subject !== undefined && { subject: flags.subject }),
      ...(flags.user !== undefined && { user: flags.user }),
      ...(flags.showHidden === true && { show_hidden: true }),
    },
  };
}

async function printPages(
  { client, out }: CommandContext,
  { repository, filters }: EventsRequest,
  flags: EventFlags,
): Promise<void> {
  let after = flags.after;
  for (let left = flags.amount <= 0 ? Number.POSITIVE_INFINITY : flags.amount; left > 0;) {
    const query = {
      ...filters,
      ...(after !== undefined && { after }),
      amount: Math.min(left, pageSize),
    };
    const page =
      repository === undefined
        ? await client.get('/events', { params: { query } })
        : await client.get('/repositories/{repository}/events', { params: { path: { repository }, query } });
    for (const event of page.results) out.line(JSON.stringify(event));
    if (!page.pagination.has_more) return;
    left -= page.results.length;
    after = page.pagination.next_offset;
  }
}

/** Comes back where it was whenever the connection ends. */
async function follow(
  context: CommandContext,
  request: EventsRequest,
  after: string | undefined,
): Promise<void> {
  let cursor = after;
  for (;;) {
    const answer = await context.transport.call({
      method: 'GET',
      path: request.path,
      params: {
        ...(request.repository !== undefined && { path: { repository: request.repository } }),
        query: request.filters,
      },
      headers: { accept: 'text/event-stream', ...(cursor !== undefined && { 'last-event-id': cursor }) },
    });
    await expectStatus(answer, 200);
    try {
      const input = answer.body.stream();
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (line.startsWith('id: ')) cursor = line.slice(4);
        else if (line.startsWith('data: ')) context.out.line(line.slice(6));
      }
    } catch {
      // Cut off: the next connection goes on after the last event.
    }
    await pause(reconnectMs);
  }
}
