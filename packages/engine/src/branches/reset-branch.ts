import { encodeStagedEntry, encodeTombstone } from '@svc/encoding';
import type { KvWrite } from '@svc/kv';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { tooManyAttempts } from '../context/refusals.ts';
import type { ResetBranchOptions } from '../face/branches.ts';
import { userOf } from '../moves/move-log.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { lookupCommitted, lookupStaged } from '../staging/lookup.ts';
import { retireTokens, tokenFor } from '../staging/tokens.ts';
import { uncommittedChanges } from '../staging/uncommitted-changes.ts';
import { withStagingToken } from '../staging/write.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** Writes of a prefix reset that are under way at the same time. */
const parallelWrites = 64;

/** Discards uncommitted changes: all of them, those under a prefix, or those of one object. */
export async function resetBranch(context: EngineContext, options: ResetBranchOptions): Promise<void> {
  checkBranchName(options.branch);
  const key = options.type === 'object' ? parseKey(options.path ?? '') : undefined;
  const scope = await context.repositories.open(options.repository);
  await checkStagingWritable(context, scope, options.branch, options.force);
  if (key !== undefined) return resetObject(context, scope, options.branch, key);
  const prefix = options.type === 'reset' ? undefined : (options.path ?? '');
  const told = (): KvWrite =>
    context.told({
      type: 'svc.branch.reset',
      subject: `branch/${options.branch}`,
      user: userOf(options.actor),
      data: { ...(prefix !== undefined && { prefix }) },
    });
  if (prefix === undefined) return resetAll(context, scope, options.branch, told);
  return resetPrefix(context, scope, options.branch, Buffer.from(prefix), told);
}

async function resetAll(
  context: EngineContext,
  scope: RepositoryScope,
  branchId: string,
  told: () => KvWrite,
): Promise<void> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const head = await context.branches.get(scope, branchId);
    const fresh = { ...head.data, stagingToken: tokenFor(scope, branchId), sealedTokens: [] };
    if (await context.branches.replaceTelling(scope, head, fresh, told())) {
      await retireTokens(context, [head.data.stagingToken, ...head.data.sealedTokens]);
      return;
    }
    context.onRetry('reset');
  }
  throw tooManyAttempts();
}

async function resetPrefix(
  context: EngineContext,
  scope: RepositoryScope,
  branchId: string,
  prefix: Buffer,
  told: () => KvWrite,
): Promise<void> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const head = await context.branches.get(scope, branchId);
    const stagingToken = tokenFor(scope, branchId);
    await writeCommittedState(context, scope, head, prefix, Buffer.from(stagingToken));
    const sealedTokens = [head.data.stagingToken, ...head.data.sealedTokens];
    const next = { ...head.data, stagingToken, sealedTokens };
    if (await context.branches.replaceTelling(scope, head, next, told())) return;
    await retireTokens(context, [stagingToken]);
    context.onRetry('reset');
  }
  throw tooManyAttempts();
}

/** Puts into a token not yet in use what hides every change under the prefix. */
async function writeCommittedState(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  prefix: Buffer,
  token: Buffer,
): Promise<void> {
  const range = prefix.length > 0 ? { from: prefix, prefix } : {};
  const changes = await uncommittedChanges(context, scope, head.tokens, head.data.commitId, range);
  let writes: Promise<void>[] = [];
  try {
    while (await changes.next()) {
      const key = Buffer.from(changes.key);
      writes.push(writeOne(context, scope, head, key, token, changes.type === 'added'));
      if (writes.length === parallelWrites) {
        await Promise.all(writes);
        writes = [];
      }
    }
    await Promise.all(writes);
  } finally {
    changes.close();
  }
}

async function writeOne(
  context: EngineContext,
  scope: RepositoryScope,
  head: BranchHead,
  key: Buffer,
  token: Buffer,
  added: boolean,
): Promise<void> {
  const committed = added ? undefined : await lookupCommitted(context, scope, head.data.commitId, key);
  await context.kv.set(token, key, committedChange(key, committed));
}

function committedChange(key: Buffer, committed: { identity: Buffer; data: Buffer } | undefined): Buffer {
  return committed === undefined
    ? encodeTombstone(key)
    : encodeStagedEntry(key, committed.identity, committed.data);
}

async function resetObject(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  key: Buffer,
): Promise<void> {
  await withStagingToken(context, { scope, branch, key }, 'reset', async (head, token) => {
    if ((await lookupStaged(context, head.tokens, key)) === undefined) return true;
    const committed = await lookupCommitted(context, scope, head.data.commitId, key);
    await context.kv.set(token, key, committedChange(key, committed));
    return true;
  });
}
