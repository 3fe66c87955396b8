import { timestampToMillis, type UploadData } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { multipartsPartition } from '../store/keys.ts';
import { listUploadRecords, removePartRecords, storeUploadOf } from './upload-records.ts';

const openLifetimeMs = 7 * 24 * 3_600_000;
const completedLifetimeMs = 24 * 3_600_000;

/** Aborts uploads nobody finished within a week and forgets finished ones after a day. */
export async function sweepUploads(context: EngineContext, signal?: AbortSignal): Promise<void> {
  const now = context.clock();
  for await (const data of listUploadRecords(context)) {
    if (signal?.aborted === true) return;
    const since = timestampToMillis(data.completedAt ?? data.creationDate);
    const lifetime = data.completedAt === undefined ? openLifetimeMs : completedLifetimeMs;
    if (now - since <= lifetime) continue;
    if (data.completedAt === undefined) await abortInStore(context, data);
    await removePartRecords(context, data.uploadId);
    await context.kv.delete(multipartsPartition, Buffer.from(data.uploadId));
  }
}

async function abortInStore(context: EngineContext, data: UploadData): Promise<void> {
  try {
    const scope = await context.repositories.open(data.repository);
    await adapterOf(context, scope).abortMultipart(storeUploadOf(scope, data));
  } catch (error) {
    // Without its repository there is no place left to abort in.
    if (!(error instanceof EngineError)) throw error;
  }
}
