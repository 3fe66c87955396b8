import { repositoryMessage, type RepositoryData } from '@svc/encoding';
import { readBinding } from '../bindings/binding-store.ts';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Actor, Repository } from '../face/model.ts';
import { formerNamespaceKey } from '../store/keys.ts';
import { findClash, namespaceIsTaken, releaseNamespace, trimSlash } from './namespaces.ts';
import { type StoredDeletedRepository } from '../store/deleted-repositories.ts';
import { dueOf, findInTrash, isRestorable, moveToTrash } from './trash.ts';

/** Brings a deleted repository back with everything it had, but open uploads and the runs of its hooks. */
export async function restoreRepository(
  context: EngineContext,
  options: { readonly instance: string; readonly actor: Actor },
): Promise<Repository> {
  const found = await findInTrash(context, options.instance);
  checkRestorable(context, found);
  const { repository: data } = found;
  const { storageId, storageNamespace } = data;
  if ((await context.repositories.read(data.id)) !== undefined) throw nameTaken(data.id);
  await checkNoAlias(context, data.id);
  // Nobody can begin to empty the namespace, or take it, from here on.
  const clash = await findClash(context, context.blockStores.get(storageId), data);
  if (clash.taken !== undefined) throw conflict(namespaceIsTaken(storageNamespace, clash.taken));
  let restored = false;
  try {
    const current = await findInTrash(context, options.instance);
    checkRestorable(context, current);
    restored = await putBack(context, data, current, options.actor);
    if (!restored) {
      if ((await context.repositories.read(data.id)) !== undefined) throw nameTaken(data.id);
      throw notFound('repository', 'no deleted repository has this instance');
    }
  } finally {
    if (!restored && clash.reserved) await releaseNamespace(context, storageId, storageNamespace, data.id);
  }
  await context.repositories.forget(data.id);
  await context.namespaces.forget(storageId);
  try {
    await checkNoAlias(context, data.id);
  } catch (error) {
    await takeBack(context, found, options.actor);
    throw error;
  }
  return context.repositories.toRepository(data);
}

async function checkNoAlias(context: EngineContext, id: string): Promise<void> {
  if ((await readBinding(context, { type: 'alias', id })) !== undefined) {
    throw conflict(`an alias '${id}' exists: delete it first`);
  }
}

/** An alias of the name was made at the same time: the repository goes to the trash again, until when it was due. */
async function takeBack(
  context: EngineContext,
  { repository, data }: StoredDeletedRepository,
  actor: Actor,
): Promise<void> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const stored = await context.repositories.read(repository.id);
    if (stored?.data.instanceUid !== repository.instanceUid) return;
    const { deleteData } = data;
    if (await moveToTrash(context, stored, { due: dueOf(data), deleteData, actor })) return;
  }
  throw tooManyAttempts();
}

function putBack(
  context: EngineContext,
  data: RepositoryData,
  { key, value }: StoredDeletedRepository,
  actor: Actor,
): Promise<boolean> {
  const move = context.moves.planOfRepository('undelete', data.id, actor);
  const former = formerNamespaceKey(data.storageId, trimSlash(data.storageNamespace));
  return context.repositories.addWith(
    repositoryMessage.decode(repositoryMessage.encode(data)),
    [{ type: 'delete', key }, { type: 'delete', key: former }, ...move.writes],
    { key, value },
  );
}

function checkRestorable(context: EngineContext, found: StoredDeletedRepository): void {
  const { data, repository } = found;
  if (data.displacedBy !== '') {
    throw conflict(
      `storage namespace ${repository.storageNamespace} was taken by repository '${data.displacedBy}' after '${repository.id}' was deleted`,
    );
  }
  if (!isRestorable(context, found)) throw conflict(`repository '${repository.id}' is being purged`);
}

function nameTaken(id: string): EngineError {
  return conflict(`a repository '${id}' exists: delete it, then restore the older one`);
}

function conflict(message: string): EngineError {
  return new EngineError('already_exists', message, { subject: 'repository' });
}
