import { branchMessage, repositoryInDeletion } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import { maxTries } from '../context/back-off.ts';
import type { DeleteRepositoryOptions } from '../face/repositories.ts';
import { checkRepositoryName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { forgetForeign } from '../gc/foreign.ts';
import { retireTokens } from '../staging/tokens.ts';
import { branchesPrefix, pullsPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { endUploadsOf } from '../uploads/end-upload.ts';
import { rememberNamespace } from './former-namespaces.ts';
import { releaseNamespace } from './namespaces.ts';

const actionsPartition = Buffer.from('actions');

/** Deletes everything a repository has in the key-value store, the record last; calling it again resumes. */
export async function deleteRepository(
  context: EngineContext,
  options: DeleteRepositoryOptions,
): Promise<void> {
  checkRepositoryName(options.repository);
  const scope = await markInDeletion(context, options);
  const { repository } = scope;
  await removeBranches(context, scope);
  await endUploadsOf(context, scope);
  await removeAll(context, pullsPartition, `repos/${repository.id}-${repository.instanceUid}/`);
  await removeAll(context, actionsPartition, `repos/${repository.id}/`);
  await forgetForeign(context, scope);
  await removeAll(context, scope.partition);
  await rememberNamespace(context, repository);
  await releaseNamespace(context, repository.storageId, repository.storageNamespace, repository.id);
  const record = await context.repositories.read(repository.id);
  if (record?.data.instanceUid === repository.instanceUid) {
    await context.repositories.remove(repository.id, record.predicate);
  }
  await context.repositories.forget(repository.id);
  await context.namespaces.forget(repository.storageId);
}

async function markInDeletion(
  context: EngineContext,
  options: DeleteRepositoryOptions,
): Promise<RepositoryScope> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const stored = await context.repositories.read(options.repository);
    if (stored === undefined) throw notFound('repository');
    const scope = context.repositories.scopeOf(stored.data);
    if (stored.data.state === repositoryInDeletion) return scope;
    checkNotReadOnly(scope, options.force);
    const marked = { ...stored.data, state: repositoryInDeletion };
    const move = context.moves.planOfRepository('delete', options.repository, options.actor);
    if (await context.repositories.move(stored, marked, move)) {
      await context.repositories.forget(options.repository);
      return scope;
    }
  }
  throw tooManyAttempts();
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

async function removeAll(context: EngineContext, partition: Buffer, prefix?: string): Promise<void> {
  const options = prefix === undefined ? {} : { prefix: Buffer.from(prefix) };
  for await (const page of context.kv.scan(partition, options)) {
    await Promise.all(page.map(({ key }) => context.kv.delete(partition, key)));
  }
}
