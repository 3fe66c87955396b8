import { ApiError, type Calls } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../../context.ts';
import { CliError } from '../../errors.ts';
import { collectList, parsePairs } from '../../list-flag.ts';
import { mergeChanges } from '../../local/changes.ts';
import { findRoot, interruptedMessage, readIndex, writeIndex } from '../../local/folder-index.ts';
import { gitMetadata } from '../../local/git.ts';
import { LinkedFolder } from '../../local/linked-folder.ts';
import { removeParts } from '../../local/walk.ts';
import { printCommitResult } from '../../output/commit-blocks.ts';
import { confirm } from '../../prompt.ts';
import { printSummary } from '../../transfer/summary.ts';
import { withTransferFlags, type TransferFlags } from '../../transfer/transfer-flags.ts';
import type { PathUri } from '../../uri.ts';
import { messageOf } from '../commit.ts';
import { syncing } from './cancelled.ts';

interface LocalCommitFlags extends TransferFlags {
  readonly message?: string;
  readonly allowEmptyMessage?: boolean;
  readonly meta?: readonly string[];
  readonly force?: boolean;
  readonly yes?: boolean;
}

export function registerCommit(local: Command): void {
  withTransferFlags(
    local
      .command('commit')
      .description('upload the changes of a linked folder and commit them')
      .argument('[directory]', 'default: the current folder')
      .option('-m, --message <text>', 'commit message')
      .option('--allow-empty-message', 'allow an empty message')
      .option('--meta <key=value>', 'metadata, repeatable', collectList)
      .option('--force', 'commit although the branch has uncommitted changes elsewhere')
      .option('-y, --yes', 'do not ask'),
  ).action(
    action<[string | undefined], LocalCommitFlags>(async (context, [directory], flags) => {
      const message = messageOf(flags);
      const own = parsePairs(flags.meta);
      await commitFolder(context, findRoot(directory ?? '.'), flags, message, own);
    }),
  );
}

async function commitFolder(
  context: CommandContext,
  root: string,
  flags: LocalCommitFlags,
  message: string,
  metadata: Record<string, string>,
): Promise<void> {
  const { client, out } = context;
  const index = readIndex(root);
  const { src } = index;
  if (index.activeOperation !== '') {
    out.warning(interruptedMessage(root, index));
    await confirm({
      yes: flags.yes,
      question: 'Committing now may lose data of the branch. Proceed?',
      operation: 'commit',
    });
    removeParts(root);
  }
  const folder = new LinkedFolder(context, root, src);
  const branch = await client.get('/repositories/{repository}/branches/{branch}', {
    params: { path: { repository: src.repository, branch: src.ref } },
  });
  const head = branch.commit_id;
  const localChanges = await folder.localChanges(index.atHead);
  const remoteChanges = head === index.atHead ? [] : await folder.remoteChanges(index.atHead, head);
  const changes = mergeChanges(localChanges, remoteChanges);
  const conflicts = changes.filter((change) => change.kind === 'conflict');
  if (conflicts.length > 0) {
    const paths = conflicts.map((change) => `\n${change.path}`).join('');
    throw new CliError(`changed both in the folder and on branch ${src.ref}; nothing was committed:${paths}`);
  }
  if (changes.length === 0) {
    if (head !== index.atHead || index.activeOperation !== '') {
      writeIndex(root, { ...index, atHead: head, activeOperation: '' });
    }
    out.info('');
    out.info('No changes');
    return;
  }
  if (localChanges.length > 0 && flags.force !== true && (await hasOutsideChanges(client, src))) {
    throw new CliError(
      `branch ${src.ref} has uncommitted changes outside of ${src.path}, the path of ${root}: they would be committed along (--force does it)`,
    );
  }

  writeIndex(root, { ...index, activeOperation: 'commit' });
  const tally = await syncing((signal) => folder.sync(changes, head, flags, { title: 'Commit', signal }));
  printSummary(out, 'Sync', tally);
  if (localChanges.length === 0) {
    writeIndex(root, { ...index, atHead: head, activeOperation: '' });
    if (out.json) out.document(tally);
    return;
  }
  const commit = await client.post('/repositories/{repository}/branches/{branch}/commits', {
    params: { path: { repository: src.repository, branch: src.ref } },
    body: { message, metadata: { ...metadata, ...gitMetadata(root) } },
  });
  writeIndex(root, { ...index, atHead: commit.id, activeOperation: '' });
  printCommitResult(out, src.ref, commit);
}

/** True when the branch has uncommitted changes that are not below the path. */
async function hasOutsideChanges(client: Calls, src: PathUri): Promise<boolean> {
  if (src.path === '') return false;
  const path = { repository: src.repository, branch: src.ref };
  const firstAfter = async (after: string): Promise<string | undefined> => {
    const page = await client.get('/repositories/{repository}/branches/{branch}/diff', {
      params: { path, query: { amount: 1, after } },
    });
    return page.results[0]?.path;
  };
  const first = await firstAfter('');
  if (first === undefined) return false;
  if (!first.startsWith(src.path)) return true;
  // `0` follows `/`: nothing below the path comes after this bound, and everything else does.
  const bound = `${src.path.slice(0, -1)}0`;
  if ((await firstAfter(bound)) !== undefined) return true;
  return isUncommitted(client, src, bound);
}

async function isUncommitted(client: Calls, src: PathUri, path: string): Promise<boolean> {
  try {
    const page = await client.get('/repositories/{repository}/branches/{branch}/diff', {
      params: {
        path: { repository: src.repository, branch: src.ref },
        query: { amount: 1, prefix: path },
      },
    });
    return page.results[0]?.path === path;
  } catch (error) {
    if (error instanceof ApiError && error.isNotFound) return false;
    throw error;
  }
}
