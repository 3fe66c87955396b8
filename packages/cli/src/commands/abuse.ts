import { setTimeout as pause } from 'node:timers/promises';
import { listAll, type Calls } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { parseDuration } from '../duration.ts';
import { CliError, UsageError } from '../errors.ts';
import { readInput } from '../input.ts';
import { positiveNumber } from '../list-flag.ts';
import { maxPage } from '../pagination.ts';
import { runLoad } from '../stress/load-run.ts';
import { formatUri, type RefUri } from '../uri.ts';

interface LoadFlags {
  readonly amount: number;
  readonly parallelism: number;
}

const manyItems = 1_000_000;
/** Any MD5 will do: nothing is uploaded. */
const checksum = '00695c7307b0480c7b6bdc873cf05c15';

export function register(program: Command): void {
  const abuse = program.command('abuse', { hidden: true }).description('put load on a server and measure it');
  registerCommit(abuse);
  registerBranches(abuse);
  registerLinks(abuse);
  registerReads(abuse);
  registerMerge(abuse);
}

function withLoadFlags(command: Command, amount = manyItems): Command {
  return command
    .option('--amount <n>', 'how many in all', positiveNumber, amount)
    .option('--parallelism <n>', 'how many at once', positiveNumber, 100);
}

function* counted(amount: number): Generator<number> {
  for (let at = 0; at < amount; at += 1) yield at;
}

function registerCommit(abuse: Command): void {
  abuse
    .command('commit')
    .description('make empty commits, one after the other')
    .argument('<branch URI>')
    .option('--amount <n>', 'how many in all', positiveNumber, 100)
    .option('--gap <duration>', 'pause between commits', '2s')
    .action(
      action<[string], { amount: number; gap: string }>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        const gapMs = parseDuration(flags.gap);
        if (gapMs === undefined) throw new UsageError(`--gap "${flags.gap}" is not a duration`);
        out.line(`Source branch: ${formatUri(uri)}`);
        await runLoad({
          out,
          name: 'commit',
          parallelism: 1,
          items: counted(flags.amount),
          work: async (at) => {
            await client.post('/repositories/{repository}/branches/{branch}/commits', {
              params: { path: { repository: uri.repository, branch: uri.ref } },
              body: { message: String(at + 1), metadata: {}, allow_empty: true },
            });
          },
          gap: () => pause(gapMs),
        });
      }),
    );
}

function registerBranches(abuse: Command): void {
  withLoadFlags(
    abuse
      .command('create-branches')
      .description('delete all branches with a prefix, then create many')
      .argument('<source ref URI>')
      .option('--branch-prefix <prefix>', 'begin of their names', 'abuse-')
      .option('--clean-only', 'only delete'),
  ).action(
    action<[string], LoadFlags & { branchPrefix: string; cleanOnly?: boolean }>(
      async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.ref(uriText, 'source ref URI');
        const { repository } = uri;
        out.line(`Source ref: ${formatUri(uri)}`);
        const old = listAll((after) =>
          client.get('/repositories/{repository}/branches', {
            params: { path: { repository }, query: { prefix: flags.branchPrefix, after, amount: maxPage } },
          }),
        );
        await runLoad({
          out,
          name: 'delete branch',
          parallelism: flags.parallelism,
          items: old,
          work: async ({ id }) => {
            await client.delete('/repositories/{repository}/branches/{branch}', {
              params: { path: { repository, branch: id } },
            });
          },
        });
        if (flags.cleanOnly === true) return;
        await runLoad({
          out,
          name: 'create branch',
          parallelism: flags.parallelism,
          items: counted(flags.amount),
          work: async (at) => {
            await client.post('/repositories/{repository}/branches', {
              params: { path: { repository } },
              body: { name: `${flags.branchPrefix}-${at}`, source: uri.ref },
            });
          },
        });
      },
    ),
  );
}

async function getAndLink(client: Calls, uri: RefUri, path: string): Promise<void> {
  const params = { path: { repository: uri.repository, branch: uri.ref }, query: { path } };
  const staging = await client.get('/repositories/{repository}/branches/{branch}/staging/backing', {
    params,
  });
  await client.put('/repositories/{repository}/branches/{branch}/staging/backing', {
    params,
    body: { staging, checksum, size_bytes: 0 },
  });
}

function registerLinks(abuse: Command): void {
  withLoadFlags(
    abuse
      .command('link-same-object')
      .description('link one key over and over')
      .argument('<branch URI>')
      .option('--key <path>', 'the key', 'linked-object'),
  ).action(
    action<[string], LoadFlags & { key: string }>(async ({ client, out, uris }, [uriText], flags) => {
      const uri = uris.branch(uriText, 'branch URI');
      out.line(`Source branch: ${formatUri(uri)}`);
      out.line(`Object key: ${flags.key}`);
      await runLoad({
        out,
        name: 'get-and-link',
        parallelism: flags.parallelism,
        items: counted(flags.amount),
        work: () => getAndLink(client, uri, flags.key),
      });
    }),
  );

  withLoadFlags(
    abuse
      .command('random-write')
      .description('link many keys')
      .argument('<branch URI>')
      .option('--prefix <prefix>', 'begin of the keys', 'abuse/'),
  ).action(
    action<[string], LoadFlags & { prefix: string }>(async ({ client, out, uris }, [uriText], flags) => {
      const uri = uris.branch(uriText, 'branch URI');
      out.line(`Source branch: ${formatUri(uri)}`);
      await runLoad({
        out,
        name: 'stage object',
        parallelism: flags.parallelism,
        items: counted(flags.amount),
        work: (at) => getAndLink(client, uri, `${flags.prefix}file-${at}`),
      });
    }),
  );
}

function registerReads(abuse: Command): void {
  withLoadFlags(
    abuse
      .command('list')
      .description('list objects over and over')
      .argument('<source ref URI>')
      .option('--prefix <prefix>', 'what to list', 'abuse/'),
  ).action(
    action<[string], LoadFlags & { prefix: string }>(async ({ client, out, uris }, [uriText], flags) => {
      const { repository, ref } = uris.ref(uriText, 'source ref URI');
      await runLoad({
        out,
        name: 'list',
        parallelism: flags.parallelism,
        items: counted(flags.amount),
        work: async () => {
          await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
            params: { path: { repository, ref }, query: { prefix: flags.prefix, amount: 100 } },
          });
        },
      });
    }),
  );

  registerRandom(abuse, 'random-read', 'look up random keys of a list', 'read', async (client, uri, path) => {
    await client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository: uri.repository, ref: uri.ref }, query: { path } },
    });
  });
  registerRandom(
    abuse,
    'random-delete',
    'delete random keys of a list',
    'delete',
    async (client, uri, path) => {
      await client.delete('/repositories/{repository}/branches/{branch}/objects', {
        params: { path: { repository: uri.repository, branch: uri.ref }, query: { path } },
      });
    },
  );
}

function registerRandom(
  abuse: Command,
  command: string,
  description: string,
  name: string,
  work: (client: Calls, uri: RefUri, path: string) => Promise<void>,
): void {
  withLoadFlags(
    abuse
      .command(command)
      .description(description)
      .argument('<source ref URI>')
      .requiredOption('--from-file <file>', 'keys, one per line, - for standard input'),
  ).action(
    action<[string], LoadFlags & { fromFile: string }>(async ({ client, out, uris }, [uriText], flags) => {
      const uri = uris.ref(uriText, 'source ref URI');
      out.line(`Source ref: ${formatUri(uri)}`);
      const keys = (await readInput(flags.fromFile))
        .toString('utf8')
        .split('\n')
        .filter((key) => key !== '');
      if (keys.length === 0) throw new CliError(`${flags.fromFile} holds no keys`);
      out.line(`Read ${keys.length} keys from file`);
      await runLoad({
        out,
        name,
        parallelism: flags.parallelism,
        items: counted(flags.amount),
        work: () => work(client, uri, keys[Math.floor(Math.random() * keys.length)] ?? ''),
      });
    }),
  );
}

function registerMerge(abuse: Command): void {
  withLoadFlags(
    abuse
      .command('merge')
      .description('branch, commit and merge back, many at once')
      .argument('<branch URI>'),
    1000,
  ).action(action<[string], LoadFlags>((context, [uriText], flags) => abuseMerge(context, uriText, flags)));
}

async function abuseMerge(context: CommandContext, uriText: string, flags: LoadFlags): Promise<void> {
  const { client, out, uris } = context;
  const uri = uris.branch(uriText, 'branch URI');
  const { repository } = uri;
  const prefix = `merge-${Date.now().toString(36)}`;
  out.line(`Source branch: ${formatUri(uri)}`);
  out.line(`Branch prefix: ${prefix}`);
  const created: string[] = [];
  try {
    await runLoad({
      out,
      name: 'merge',
      parallelism: flags.parallelism,
      items: counted(flags.amount),
      work: async (at) => {
        const name = `${prefix}-${String(at).padStart(4, '0')}`;
        await client.post('/repositories/{repository}/branches', {
          params: { path: { repository } },
          body: { name, source: uri.ref },
        });
        created.push(name);
        await getAndLink(client, { repository, ref: name, path: undefined }, `object-${name}`);
        await client.post('/repositories/{repository}/branches/{branch}/commits', {
          params: { path: { repository, branch: name } },
          body: { message: `commit ${name}`, metadata: {} },
        });
        await client.post('/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}', {
          params: { path: { repository, sourceRef: name, destinationBranch: uri.ref } },
          body: {},
        });
      },
    });
  } finally {
    // Clean up as far as possible: the run's own result matters, not a branch that is already gone.
    for (const branch of created) {
      await client
        .delete('/repositories/{repository}/branches/{branch}', { params: { path: { repository, branch } } })
        .catch(() => undefined);
    }
  }
}
