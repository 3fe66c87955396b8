import { listAll } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../../context.ts';
import { ExitStatus } from '../../errors.ts';
import { positiveNumber } from '../../list-flag.ts';
import { maxPage } from '../../pagination.ts';
import type { PathUri } from '../../uri.ts';

interface RemoveFlags {
  readonly concurrency: number;
  readonly recursive?: boolean;
}

/** The most paths one call may delete. */
const batchSize = 1000;

export function registerRemove(fs: Command): void {
  fs.command('rm')
    .description('delete an object, or everything that starts with a prefix')
    .argument('<path URI>')
    .option('-C, --concurrency <n>', 'how many delete calls at once', positiveNumber, 50)
    .option('-r, --recursive', 'delete every object whose path starts with the given one')
    .action(
      action<[string], RemoveFlags>(async (context, [uriText], flags) => {
        const uri = context.uris.path(uriText, 'path URI');
        if (flags.recursive === true) {
          await removeAll(context, uri, flags.concurrency);
          return;
        }
        await context.client.delete('/repositories/{repository}/branches/{branch}/objects', {
          params: { path: { repository: uri.repository, branch: uri.ref }, query: { path: uri.path } },
        });
      }),
    );
}

async function removeAll({ client, out }: CommandContext, uri: PathUri, concurrency: number): Promise<void> {
  const { repository, ref: branch, path: prefix } = uri;
  let failed = false;
  const running = new Set<Promise<void>>();

  const removeBatch = async (paths: string[]): Promise<void> => {
    const { errors } = await client.post('/repositories/{repository}/branches/{branch}/objects/delete', {
      params: { path: { repository, branch } },
      body: { paths },
    });
    for (const error of errors) {
      failed = true;
      out.errorLine(`rm ${error.path ?? ''}: [${error.status_code}] ${error.message}`);
    }
  };
  const start = async (paths: string[]): Promise<void> => {
    const task = removeBatch(paths).finally(() => running.delete(task));
    running.add(task);
    if (running.size >= concurrency) await Promise.race(running);
  };

  let batch: string[] = [];
  const items = listAll((after) =>
    client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: { path: { repository, ref: branch }, query: { prefix, after, amount: maxPage } },
    }),
  );
  for await (const { path } of items) {
    batch.push(path);
    if (batch.length < batchSize) continue;
    await start(batch);
    batch = [];
  }
  if (batch.length > 0) await start(batch);
  await Promise.all(running);
  if (failed) throw new ExitStatus(1);
}
