import { deletedRepositoryMessage, secondaryIndexMessage } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import { emptyNamespace, type Emptied } from '../gc/collector/empty-namespace.ts';
import { NamespaceContested } from '../gc/collector/owner.ts';
import { listTrash, type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import { gravelerPartition, namespaceKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { forgetFormerNamespace } from './former-namespaces.ts';
import { liesInside, trimSlash } from './namespaces.ts';
import { hasUntoldEvents, isCollectors, removeFromTrash } from './purge-repository.ts';
import { changeInTrash, dueOf } from './trash.ts';

/** Deletes the data of repositories that were deleted with it, once their time in the trash is over. */
export async function emptyNamespaces(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  const now = context.clock();
  for await (const stored of listTrash(context)) {
    if (!isCollectors(stored)) continue;
    if (!stored.data.purging && dueOf(stored.data) > now) continue;
    if (!(await round.mayGoOn())) return;
    try {
      if (stored.data.purging) await purge(context, stored, round);
      else await begin(context, stored);
    } catch (error) {
      const { id } = stored.repository;
      context.logger.warn({ err: error, repository: id }, 'the data of a deleted repository is still there');
    }
  }
}

/** Nobody can restore it or take its namespace from here on; what began before is over by the next round. */
async function begin(context: EngineContext, stored: StoredDeletedRepository): Promise<void> {
  const { repository, data, key, value } = stored;
  const other = await findOverlap(context, stored);
  if (other !== undefined) {
    await leaveData(context, stored, other);
    return;
  }
  const reservation = namespaceKey(repository.storageId, trimSlash(repository.storageNamespace));
  const purging = { ...data, purging: true };
  await context.kv.change(
    gravelerPartition,
    { key: reservation, condition: 'absent' },
    [
      { type: 'put', key: reservation, value: secondaryIndexMessage.encode({ primaryKey: key }) },
      { type: 'put', key, value: deletedRepositoryMessage.encode(purging) },
    ],
    { key, value },
  );
  await context.namespaces.forget(repository.storageId);
}

async function purge(
  context: EngineContext,
  stored: StoredDeletedRepository,
  round: JobRound,
): Promise<void> {
  const { repository } = stored;
  const scope = context.repositories.scopeOf(repository);
  // Its record must stay until then, and the namespace would be emptied again and again.
  if (await hasUntoldEvents(context, scope)) return;
  let emptied: Emptied | undefined;
  try {
    emptied = await emptyNamespace(context, scope, () => round.mayGoOn());
    if (emptied === undefined) return;
  } catch (error) {
    if (!(error instanceof NamespaceContested)) throw error;
    context.logger.warn(
      { err: error, repository: repository.id, storage_namespace: repository.storageNamespace },
      'the data of a deleted repository stays: somebody else uses its namespace',
    );
  }
  if (emptied !== undefined) tell(context, scope, emptied);
  const isEmpty = emptied !== undefined && emptied.held.objects + emptied.unknown.objects === 0;
  if (isEmpty) await forgetFormerNamespace(context, repository.storageId, repository.storageNamespace);
  const reservation = namespaceKey(repository.storageId, trimSlash(repository.storageNamespace));
  await removeFromTrash(context, stored, [{ type: 'delete', key: reservation }]);
  await context.namespaces.forget(repository.storageId);
}

function tell(context: EngineContext, { repository }: RepositoryScope, emptied: Emptied): void {
  const { deleted, held, unknown, unknownNames } = emptied;
  context.collectorObserver?.deleted('purge', deleted);
  context.logger.info(
    {
      repository: repository.id,
      storage_namespace: repository.storageNamespace,
      deleted,
      held,
      unknown,
      unknown_names: unknownNames,
      log_audit: true,
    },
    'the data of a deleted repository was deleted',
  );
}

/** Its records go as if nobody had asked for its data. */
async function leaveData(
  context: EngineContext,
  stored: StoredDeletedRepository,
  other: string,
): Promise<void> {
  await changeInTrash(context, stored, (data) => ({ ...data, displacedBy: other }));
  await context.namespaces.forget(stored.repository.storageId);
}

/** Another repository, living or in the trash, of which something may lie in the namespace, or the other way round. */
async function findOverlap(
  context: EngineContext,
  { repository: own }: StoredDeletedRepository,
): Promise<string | undefined> {
  const adapter = adapterOf(context, context.repositories.scopeOf(own));
  const ours = trimSlash(await adapter.canonicalUri(own.storageNamespace));
  const overlaps = async (storageId: string, namespace: string): Promise<boolean> => {
    const store = context.blockStores.find(storageId);
    if (store?.type !== adapter.type) return false;
    const theirs = trimSlash(await store.canonicalUri(namespace));
    return liesInside(theirs, ours) || liesInside(ours, theirs);
  };
  for await (const { id, storageId, storageNamespace } of context.repositories.list('', '')) {
    if (await overlaps(storageId, storageNamespace)) return id;
  }
  for await (const { repository, data } of listTrash(context)) {
    // One that is purged without its data claims nothing any more.
    if (repository.instanceUid === own.instanceUid || (data.purging && !data.deleteData)) continue;
    if (await overlaps(repository.storageId, repository.storageNamespace)) return repository.id;
  }
  return undefined;
}
