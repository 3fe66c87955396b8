import { BlockError, type ObjectPointer } from '@svc/block';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { EntryTrace } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';

/**
 * Runs a write that puts data at an address nobody knows yet and then stages an entry for it. When it fails and no entry
 * can point to the data, the data is removed: a refused write takes no room.
 */
export async function withFreshData<T>(
  context: EngineContext,
  scope: RepositoryScope,
  address: string,
  write: (pointer: ObjectPointer, trace: EntryTrace) => Promise<T>,
): Promise<T> {
  const pointer: ObjectPointer = {
    storageNamespace: scope.repository.storageNamespace,
    identifier: address,
    identifierType: 'relative',
  };
  const trace: EntryTrace = { mayBeStored: false };
  try {
    return await write(pointer, trace);
  } catch (error) {
    const isOurs = !(error instanceof BlockError && error.kind === 'already_exists');
    if (isOurs && !trace.mayBeStored) await removeData(context, scope, pointer);
    throw error;
  }
}

/** Removes data that no entry points to. It failing costs room and no more: a collection finds it later. */
export async function removeData(
  context: EngineContext,
  scope: RepositoryScope,
  pointer: ObjectPointer,
): Promise<void> {
  try {
    await adapterOf(context, scope).delete(pointer);
  } catch (error) {
    context.logger.warn({ err: error, address: pointer.identifier }, 'the data of a refused write stays');
  }
}
