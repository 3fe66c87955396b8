import { timestampToMillis } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { beginEnding, settled } from './joining.ts';
import {
  endingMark,
  listUploadRecords,
  readUpload,
  removePartRecords,
  removeUpload,
  replaceUpload,
  storeUploadOf,
  unjoinedMark,
  type StoredUpload,
} from './upload-records.ts';

/**
 * Ends an open upload with everything it has in the store. The record is removed by compare-and-set before the object:
 * a completion marks the record first, so an object that could be staged is never removed.
 */
export async function endUpload(
  context: EngineContext,
  scope: RepositoryScope,
  found: StoredUpload,
): Promise<void> {
  let stored = await beginEnding(context, found);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const { data } = stored;
    const upload = storeUploadOf(scope, data);
    try {
      await withBlockStore(adapterOf(context, scope), (adapter) => adapter.abortMultipart(upload));
    } catch (error) {
      // Still there, and so it is shown: whoever wanted it gone can try again.
      if (data.completedEtag === endingMark)
        await replaceUpload(context, stored, { ...data, completedEtag: unjoinedMark });
      throw error;
    }
    await removePartRecords(context, data.uploadId);
    if (await removeUpload(context, stored)) {
      if (data.completedEtag === endingMark) {
        await withBlockStore(adapterOf(context, scope), (adapter) => adapter.delete(upload.pointer));
      }
      return;
    }
    stored = await settled(context, data);
    if (stored.data.completedAt !== undefined) throw notFound('upload');
  }
  throw tooManyAttempts();
}

/** Ends the uploads of a deleted branch, or of a whole repository; what cannot be ended now expires. */
export async function endUploadsOf(
  context: EngineContext,
  scope: RepositoryScope,
  branch?: string,
  begunBefore?: number,
): Promise<void> {
  const now = context.clock();
  for await (const data of listUploadRecords(context)) {
    if (data.repository !== scope.repository.id) continue;
    if (branch !== undefined && data.branch !== branch) continue;
    // Begun later, on a new branch or repository of the same name.
    const begun = timestampToMillis(data.creationDate);
    if (begunBefore === undefined ? begun > now : begun >= begunBefore) continue;
    try {
      const stored = await readUpload(context, data);
      if (stored.data.completedAt === undefined) await endUpload(context, scope, stored);
      else await forgetUpload(context, stored);
    } catch (error) {
      context.logger.warn(
        { err: error, upload: data.uploadId },
        'an upload of a deleted branch was not ended',
      );
    }
  }
}

/** Drops what is known of an upload; its object is staged. */
export async function forgetUpload(context: EngineContext, stored: StoredUpload): Promise<void> {
  await removePartRecords(context, stored.data.uploadId);
  await removeUpload(context, stored);
}
