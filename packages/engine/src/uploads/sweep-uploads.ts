import { parseXid, timestampToMillis, xidSeconds, type UploadData } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import { wholeRound, type JobRound } from '../face/jobs.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { endUpload, forgetUpload } from './end-upload.ts';
import { completedLifetimeMs, listPartRecords, listUploadRecords, readUpload } from './upload-records.ts';

const openLifetimeMs = 7 * 24 * 3_600_000;
/** Presigned uploads have no record. Their addresses expire after a day, so a week is plenty. */
const unknownLifetimeMs = openLifetimeMs + 24 * 3_600_000;

/** Ends uploads nobody touched for a week and forgets finished ones after a day. One that fails waits for the next round. */
export async function sweepUploads(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  for await (const data of listUploadRecords(context)) {
    if (!(await round.mayGoOn())) return;
    try {
      if (await isExpired(context, data)) await sweepUpload(context, data);
    } catch (error) {
      context.logger.warn({ err: error, upload: data.uploadId }, 'an expired upload could not be removed');
    }
  }
}

async function isExpired(context: EngineContext, data: UploadData): Promise<boolean> {
  const now = context.clock();
  if (data.completedAt !== undefined) return now - timestampToMillis(data.completedAt) > completedLifetimeMs;
  if (now - timestampToMillis(data.creationDate) <= openLifetimeMs) return false;
  for await (const part of listPartRecords(context, data.uploadId)) {
    if (now - timestampToMillis(part.lastModified) <= openLifetimeMs) return false;
  }
  return true;
}

async function sweepUpload(context: EngineContext, data: UploadData): Promise<void> {
  const stored = await readUpload(context, data);
  const scope = await findRepository(context, data.repository);
  // Without its repository there is no store to end it in.
  if (data.completedAt !== undefined || scope === undefined) await forgetUpload(context, stored);
  else await endUpload(context, scope, stored);
}

async function findRepository(context: EngineContext, id: string): Promise<RepositoryScope | undefined> {
  try {
    return await context.repositories.open(id);
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'not_found') return undefined;
    throw error;
  }
}

/** Ends what stores hold of uploads that have no record: it was lost in a crash, or there never was one. */
export async function sweepUnknownUploads(
  context: EngineContext,
  round: JobRound = wholeRound,
): Promise<void> {
  for await (const { id } of context.repositories.list('', '')) {
    if (!(await round.mayGoOn())) return;
    try {
      const scope = await context.repositories.open(id);
      await endUnknownUploads(context, scope, { mayGoOn: () => round.mayGoOn() });
    } catch (error) {
      context.logger.warn({ err: error, repository: id }, 'uploads without a record could not be looked for');
    }
  }
}

export interface UnknownUploads {
  found: number;
  ended: number;
  failed: number;
}

/** As `sweepUnknownUploads`, for one repository. */
export async function endUnknownUploads(
  context: EngineContext,
  scope: RepositoryScope,
  { dryRun = false, mayGoOn }: { readonly dryRun?: boolean; readonly mayGoOn: () => Promise<boolean> },
): Promise<UnknownUploads> {
  const adapter = adapterOf(context, scope);
  const before = new Date(context.clock() - unknownLifetimeMs);
  const counts: UnknownUploads = { found: 0, ended: 0, failed: 0 };
  let known: Set<string> | undefined;
  for await (const upload of adapter.staleUploads(scope.repository.storageNamespace, before)) {
    // Other things may share the bucket, and its clock may be wrong: only addresses we made long ago are ours.
    const made = dataAddressTime(upload.pointer.identifier);
    if (made === undefined || made >= before.getTime()) continue;
    known ??= await knownStoreUploads(context);
    if (known.has(upload.uploadId)) continue;
    if (!(await mayGoOn())) return counts;
    counts.found += 1;
    if (dryRun) continue;
    try {
      await adapter.abortMultipart(upload);
      counts.ended += 1;
    } catch (error) {
      counts.failed += 1;
      context.logger.warn(
        { err: error, address: upload.pointer.identifier },
        'an unknown upload was not ended',
      );
    }
  }
  return counts;
}

async function knownStoreUploads(context: EngineContext): Promise<Set<string>> {
  const known = new Set<string>();
  for await (const data of listUploadRecords(context)) {
    if (data.completedAt === undefined) known.add(data.storeUploadId);
  }
  return known;
}

/** When an address `data/<xid>/<xid>`, signed or not, was made, in milliseconds; undefined when it is none. */
function dataAddressTime(address: string): number | undefined {
  const [folder, partition = '', name = '', ...rest] = address.split('/');
  const [xid = '', signature, ...more] = name.split(',');
  if (folder !== 'data' || rest.length > 0 || more.length > 0) return undefined;
  if (signature !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(signature)) return undefined;
  const seconds = parseXid(partition) === undefined ? undefined : xidSeconds(xid);
  return seconds === undefined ? undefined : seconds * 1000;
}
