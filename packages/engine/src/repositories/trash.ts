import {
  deletedRepositoryMessage,
  secondaryIndexMessage,
  timestampFromMillis,
  timestampToMillis,
  type DeletedRepositoryData,
} from '@svc/encoding';
import type { KvPredicate, KvWrite } from '@svc/kv';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import type { Actor } from '../face/model.ts';
import { listTrash, type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import {
  actionsPartition,
  deletedRepositoryKey,
  gravelerPartition,
  namespaceKey,
  repositoryKey,
} from '../store/keys.ts';
import type { StoredRepository } from '../store/repository-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { endUploadsOf } from '../uploads/end-upload.ts';
import { formerNamespaceOf } from './former-namespaces.ts';
import { trimSlash } from './namespaces.ts';

const deleteBatch = 1000;

export interface TrashOptions {
  /** Milliseconds since 1970: until then it can come back. */
  readonly due: number;
  readonly deleteData: boolean;
  readonly actor: Actor;
}

/**
 * Deletes a repository as one step, whatever its size: its record goes to the trash and everything else stays where it
 * is. False when the record changed since it was read.
 */
export async function moveToTrash(
  context: EngineContext,
  stored: StoredRepository,
  { due, deleteData, actor }: TrashOptions,
): Promise<boolean> {
  const { data } = stored;
  const now = context.clock();
  const scope = context.repositories.scopeOf(data);
  // Runs of hooks are kept by name: what a namesake adds from now on must stay.
  const runs = await keysOfRuns(context, data.id);
  const move = context.moves.planOfRepository('delete', data.id, actor);
  const deleted: DeletedRepositoryData = {
    repository: data,
    deletedAt: timestampFromMillis(now),
    user: actor.userId ?? actor.committer,
    move: move.id,
    displacedBy: '',
    due: timestampFromMillis(due),
    deleteData,
    purging: false,
  };
  const done = await context.repositories.removeWith(stored, [
    ...(await reservationOf(context, scope)),
    {
      type: 'put',
      key: deletedRepositoryKey(data.id, data.instanceUid),
      value: deletedRepositoryMessage.encode(deleted),
    },
    formerNamespaceOf(scope.repository),
    ...move.writes,
  ]);
  if (!done) return false;
  await context.repositories.forget(data.id);
  await context.namespaces.forget(data.storageId);
  for (let start = 0; start < runs.length; start += deleteBatch) {
    await context.kv.deleteMany(actionsPartition, runs.slice(start, start + deleteBatch));
  }
  context.background.start('end-uploads', () => endUploadsOf(context, scope, undefined, now));
  return true;
}

async function keysOfRuns(context: EngineContext, id: string): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  const options = { prefix: Buffer.from(`repos/${id}/`) };
  for await (const page of context.kv.scan(actionsPartition, options))
    keys.push(...page.map(({ key }) => key));
  return keys;
}

/** The reservation of the namespace goes with the repository, if it is its own. */
async function reservationOf(context: EngineContext, { repository }: RepositoryScope): Promise<KvWrite[]> {
  const key = namespaceKey(repository.storageId, trimSlash(repository.storageNamespace));
  const found = await context.kv.get(gravelerPartition, key);
  const owner = found === undefined ? undefined : secondaryIndexMessage.decode(found.value).primaryKey;
  return owner?.equals(repositoryKey(repository.id)) === true ? [{ type: 'delete', key }] : [];
}

export async function findInTrash(
  context: EngineContext,
  instance: string,
): Promise<StoredDeletedRepository> {
  for await (const stored of listTrash(context))
    if (stored.repository.instanceUid === instance) return stored;
  throw notFound('repository', 'no deleted repository has this instance');
}

/** Whether it can still come back, as far as its own record tells. */
export function isRestorable(context: EngineContext, { data }: StoredDeletedRepository): boolean {
  return !data.purging && dueOf(data) > context.clock();
}

export function dueOf({ due }: DeletedRepositoryData): number {
  return due === undefined ? 0 : timestampToMillis(due);
}

/** Changes the record in the trash by compare-and-set; undefined when it is gone, or `change` wants nothing changed. */
export async function changeInTrash(
  context: EngineContext,
  { repository }: StoredDeletedRepository,
  change: (data: DeletedRepositoryData) => DeletedRepositoryData | undefined,
): Promise<DeletedRepositoryData | undefined> {
  const key = deletedRepositoryKey(repository.id, repository.instanceUid);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const found = await context.kv.get(gravelerPartition, key);
    if (found === undefined) return undefined;
    const changed = change(deletedRepositoryMessage.decode(found.value));
    if (changed === undefined) return undefined;
    if (await setIf(context, key, changed, found.predicate)) return changed;
  }
  throw tooManyAttempts();
}

function setIf(
  context: EngineContext,
  key: Buffer,
  data: DeletedRepositoryData,
  predicate: KvPredicate,
): Promise<boolean> {
  return context.kv.setIf(gravelerPartition, key, deletedRepositoryMessage.encode(data), predicate);
}
