import { branchMessage, timestampFromMillis } from '@svc/encoding';
import type { KvWrite } from '@svc/kv';
import type { EngineContext } from '../context/engine-context.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import type { Actor } from '../face/model.ts';
import { forgetForeign } from '../gc/foreign.ts';
import { retireTokens } from '../staging/tokens.ts';
import {
  actionsPartition,
  branchesPrefix,
  gravelerPartition,
  movesPrefix,
  outboxPrefix,
  pullsPartition,
} from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { listTrash, type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import { changeInTrash, dueOf, findInTrash } from './trash.ts';

/** Who acts when nobody asked. */
const service: Actor = { committer: 'svc' };

/** Ends the time of a repository in the trash: it cannot come back, and its records, or its data too, go soon. */
export async function purgeRepository(
  context: EngineContext,
  options: { readonly instance: string; readonly deleteData: boolean },
): Promise<void> {
  const stored = await findInTrash(context, options.instance);
  await changeInTrash(context, stored, (data) =>
    options.deleteData || data.deleteData
      ? { ...data, deleteData: true, due: timestampFromMillis(context.clock()) }
      : { ...data, purging: true },
  );
  await context.namespaces.forget(stored.repository.storageId);
}

/**
 * Removes the records of repositories whose time in the trash is over. One round marks them and the next removes them: a
 * restore that began before the mark has ended by then. Those whose data goes with them are the collector's.
 */
export async function emptyTrash(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  const now = context.clock();
  for await (const stored of listTrash(context)) {
    const { data } = stored;
    if (isCollectors(stored)) continue;
    if (!data.purging && dueOf(data) > now) continue;
    if (!(await round.mayGoOn())) return;
    if (data.purging) await removeFromTrash(context, stored);
    else await changeInTrash(context, stored, (current) => ({ ...current, purging: true }));
  }
}

/** Its data is to be deleted, and is still its own. */
export function isCollectors({ data }: StoredDeletedRepository): boolean {
  return data.deleteData && data.displacedBy === '';
}

/** The last step of a purge: whatever carries the instance, then its record in the trash. May be repeated. */
export async function removeFromTrash(
  context: EngineContext,
  { repository, key, value }: StoredDeletedRepository,
  more: readonly KvWrite[] = [],
): Promise<void> {
  const living = await context.repositories.read(repository.id);
  if (living?.data.instanceUid === repository.instanceUid) return;
  const scope = context.repositories.scopeOf(repository);
  // What happened in it is told first; a later round finds it empty.
  if (await hasUntoldEvents(context, scope)) return;
  await removeRecords(context, scope);
  const found = await context.kv.get(gravelerPartition, key);
  if (found?.value.equals(value) !== true) return;
  const move = context.moves.planOfRepository('purge', repository.id, service);
  await context.kv.change(gravelerPartition, { key, condition: found.predicate }, [
    { type: 'delete', key },
    ...more,
    ...move.writes,
  ]);
}

export async function hasUntoldEvents(
  context: EngineContext,
  { partition }: RepositoryScope,
): Promise<boolean> {
  for await (const page of context.kv.scan(partition, { prefix: outboxPrefix, batch: 1 })) {
    if (page.length > 0) return true;
  }
  return false;
}

/** What carries the instance of a repository, and so can be no namesake's. */
export async function removeRecords(
  context: EngineContext,
  scope: RepositoryScope,
  { keepEvents }: { readonly keepEvents: boolean } = { keepEvents: false },
): Promise<void> {
  const { id, instanceUid } = scope.repository;
  await removeBranches(context, scope);
  await forgetForeign(context, scope);
  await removeAll(context, pullsPartition, `repos/${id}-${instanceUid}/`);
  await removeAll(context, actionsPartition, `queues/${id}-${instanceUid}`);
  await removeAll(context, actionsPartition, `files/${id}-${instanceUid}/`);
  await removeAll(context, scope.partition, undefined, keepEvents ? isOfEvents : undefined);
}

/** What is to be told, and the records that tell it. */
function isOfEvents(key: Buffer): boolean {
  return [outboxPrefix, movesPrefix].some((prefix) => key.subarray(0, prefix.length).equals(prefix));
}

/** The staged entries of a branch go with it: its tokens are handed to the cleaner before the record is gone. */
async function removeBranches(context: EngineContext, scope: RepositoryScope): Promise<void> {
  for await (const page of context.kv.scan(scope.partition, { prefix: branchesPrefix })) {
    for (const { key, value } of page) {
      const branch = branchMessage.decode(value);
      await retireTokens(context, [branch.stagingToken, ...branch.sealedTokens]);
      await context.kv.delete(scope.partition, key);
    }
  }
}

export async function removeAll(
  context: EngineContext,
  partition: Buffer,
  prefix?: string,
  isKept: (key: Buffer) => boolean = () => false,
): Promise<void> {
  const options = prefix === undefined ? {} : { prefix: Buffer.from(prefix) };
  for await (const page of context.kv.scan(partition, options)) {
    const gone = page.filter(({ key }) => !isKept(key));
    await Promise.all(gone.map(({ key }) => context.kv.delete(partition, key)));
  }
}
