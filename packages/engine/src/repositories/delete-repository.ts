import { repositoryInDeletion } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import type { DeleteRepositoryOptions } from '../face/repositories.ts';
import { shownSince } from '../moves/retention.ts';
import { checkRepositoryName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { actionsPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { endUploadsOf } from '../uploads/end-upload.ts';
import { rememberNamespace } from './former-namespaces.ts';
import { releaseNamespace } from './namespaces.ts';
import { removeAll, removeRecords } from './purge-repository.ts';
import { moveToTrash } from './trash.ts';

/** How long a repository can come back whose data is to be deleted. */
const dataKeptMs = 7 * 24 * 3_600_000;

/** Moves a repository to the trash, or removes its records at once; calling it again resumes the latter. */
export async function deleteRepository(
  context: EngineContext,
  options: DeleteRepositoryOptions,
): Promise<void> {
  checkRepositoryName(options.repository);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const stored = await context.repositories.read(options.repository);
    if (stored === undefined) throw notFound('repository');
    const scope = context.repositories.scopeOf(stored.data);
    if (stored.data.state === repositoryInDeletion) return removeRepository(context, scope);
    checkNotReadOnly(scope, options.force);
    const due = await dueOf(context, scope, options);
    if (due !== undefined) {
      const { actor, deleteData = false } = options;
      if (await moveToTrash(context, stored, { due, deleteData, actor })) return;
      continue;
    }
    const marked = { ...stored.data, state: repositoryInDeletion };
    const move = context.moves.planOfRepository('delete', options.repository, options.actor);
    if (!(await context.repositories.move(stored, marked, move))) continue;
    await context.repositories.forget(options.repository);
    return removeRepository(context, scope);
  }
  throw tooManyAttempts();
}

/** Until when it can come back; undefined: its records go at once. */
async function dueOf(
  context: EngineContext,
  scope: RepositoryScope,
  { purge, deleteData }: DeleteRepositoryOptions,
): Promise<number | undefined> {
  const now = context.clock();
  if (deleteData === true) return purge === true ? now : now + dataKeptMs;
  if (purge === true) return undefined;
  const { retentionMs } = await shownSince(context, scope);
  return retentionMs === 0 ? undefined : now + retentionMs;
}

/** Removes everything a repository has in the key-value store, the record last. */
async function removeRepository(context: EngineContext, scope: RepositoryScope): Promise<void> {
  const { repository } = scope;
  await endUploadsOf(context, scope);
  await removeAll(context, actionsPartition, `repos/${repository.id}/`);
  await removeRecords(context, scope);
  await rememberNamespace(context, repository);
  await releaseNamespace(context, repository.storageId, repository.storageNamespace, repository.id);
  const record = await context.repositories.read(repository.id);
  if (record?.data.instanceUid === repository.instanceUid) {
    await context.repositories.remove(repository.id, record.predicate);
  }
  await context.repositories.forget(repository.id);
  await context.namespaces.forget(repository.storageId);
}
