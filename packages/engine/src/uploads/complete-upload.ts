import { hash } from 'node:crypto';
import { BlockError } from '@svc/block';
import {
  addressRelative,
  timestampFromMillis,
  timestampToMillis,
  type Entry,
  type UploadData,
  type UploadPartData,
} from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { ObjectEntry } from '../face/objects.ts';
import type { CompleteUploadOptions } from '../face/uploads.ts';
import { parseKey } from '../names/names.ts';
import { removeData } from '../objects/fresh-data.ts';
import { decodeObject, toObjectEntry } from '../objects/object-entry.ts';
import { joinedMaps } from '../objects/reserved-metadata.ts';
import { checkBranchAndCondition } from '../objects/upload-object.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { lookupInBranch } from '../staging/lookup.ts';
import { stageEntry, type EntryTrace } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { joiningOf, keepJoining, newJoiningMark, settled } from './joining.ts';
import {
  completedLifetimeMs,
  listPartRecords,
  readUpload,
  removePartRecords,
  removeUpload,
  replaceUpload,
  storeUploadOf,
  toUpload,
  unjoinedMark,
} from './upload-records.ts';

const minPartBytes = 5 * 1024 * 1024;

/** Joins the listed parts and stages the object; a repeated call answers the same while the object is current. */
export async function completeUpload(
  context: EngineContext,
  options: CompleteUploadOptions,
): Promise<ObjectEntry> {
  const scope = await context.repositories.open(options.repository);
  const key = parseKey(options.path);
  const place = { scope, branch: options.branch, key };
  const begun = await beginJoining(context, options);
  if ('completed' in begun) return answerAgain(context, scope, begun.completed, options);
  const data = begun.before;
  const trace: EntryTrace = { mayBeStored: false };
  let joined = false;
  const alive = keepJoining(context, options, begun.marked.completedEtag);
  try {
    await checkStagingWritable(context, scope, options.branch, options.force);
    await checkBranchAndCondition(context, place, options);
    const parts = await checkParts(context, options);
    const kept = options.describe?.(toUpload(data), parts);
    const lastModified = await joinParts(context, scope, data, parts);
    joined = true;
    const entry: Entry = {
      address: data.physicalAddress,
      addressType: addressRelative,
      lastModified: timestampFromMillis(lastModified?.getTime() ?? context.clock()),
      size: sizeOf(parts),
      etag: multipartEtag(parts),
      metadata: joinedMaps(data.metadata, data.systemHeaders, kept),
      contentType: data.contentType,
    };
    await stageEntry(context, place, entry, options, trace);
    // The mark keeps everybody else away until then, so the caller need not wait for another flush.
    const stopped = alive.stop();
    context.background.start('record a completed upload', async () => {
      await stopped;
      await recordCompletion(context, options, entry.etag);
    });
    return toObjectEntry(context, scope, options.path, entry);
  } catch (error) {
    const completedEtag = await alive.stop();
    const marked = { ...begun.marked, completedEtag };
    if (!trace.mayBeStored) await takeBack(context, scope, { before: data, marked }, joined);
    throw error;
  }
}

/** A completion under way: the record before it, and as it made it. */
interface BegunCompletion {
  readonly before: UploadData;
  readonly marked: UploadData;
}

/**
 * Marks the record before the object exists: from now on the object may be staged, so ending the upload leaves the
 * object alone. Who completes the upload at the same time waits, and finds it completed or open again.
 */
async function beginJoining(
  context: EngineContext,
  options: CompleteUploadOptions,
): Promise<BegunCompletion | { readonly completed: UploadData }> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const stored = await settled(context, options);
    if (stored.data.completedAt !== undefined) return { completed: stored.data };
    const completedEtag = newJoiningMark(context, multipartEtag(options.parts));
    const marked = { ...stored.data, completedEtag };
    if (await replaceUpload(context, stored, marked)) return { before: stored.data, marked };
  }
  throw tooManyAttempts();
}

/** After a failure that staged nothing: the upload is open again, or ends with the object that nothing points to. */
async function takeBack(
  context: EngineContext,
  scope: RepositoryScope,
  { before, marked }: BegunCompletion,
  joined: boolean,
): Promise<void> {
  try {
    const stored = await readUpload(context, marked);
    // No longer ours once another completion has begun or the upload was ended.
    if (stored.data.completedEtag !== marked.completedEtag) return;
    // One that died before ours may have staged the object, and is still remembered by its mark.
    if (!joined || before.completedEtag !== unjoinedMark) await replaceUpload(context, stored, before);
    // The store has joined the parts and forgotten them: the upload cannot go on.
    else if (await removeUpload(context, stored)) {
      await removeData(context, scope, storeUploadOf(scope, before).pointer);
      await removePartRecords(context, before.uploadId);
    }
  } catch (error) {
    context.logger.warn({ err: error, upload: marked.uploadId }, 'a refused completion was not taken back');
  }
}

/** The object is staged by now, whatever becomes of the record: one left open expires without touching the object. */
async function recordCompletion(
  context: EngineContext,
  options: CompleteUploadOptions,
  completedEtag: string,
): Promise<void> {
  try {
    for (let attempt = 0; attempt < maxTries; attempt += 1) {
      const stored = await readUpload(context, options);
      if (stored.data.completedAt !== undefined) break;
      const completedAt = timestampFromMillis(context.clock());
      if (await replaceUpload(context, stored, { ...stored.data, completedEtag, completedAt })) break;
    }
  } catch (error) {
    // It went with its branch meanwhile.
    if (error instanceof EngineError && error.kind === 'not_found') return;
    context.logger.warn({ err: error, upload: options.uploadId }, 'the end of an upload was not recorded');
    return;
  }
  try {
    // Nobody sees them any more, and what stays goes with the record.
    await removePartRecords(context, options.uploadId);
  } catch (error) {
    context.logger.warn(
      { err: error, upload: options.uploadId },
      'the parts of an upload were not forgotten',
    );
  }
}

/** Lets the store join the parts. One that did so before, for a call that then failed, has forgotten the upload. */
async function joinParts(
  context: EngineContext,
  scope: RepositoryScope,
  data: UploadData,
  parts: readonly UploadPartData[],
): Promise<Date | undefined> {
  const adapter = adapterOf(context, scope);
  const upload = storeUploadOf(scope, data);
  return withBlockStore(adapter, async () => {
    try {
      return (await adapter.completeMultipart(upload, parts)).lastModified;
    } catch (error) {
      if (!(error instanceof BlockError) || error.kind !== 'upload_not_found') throw error;
      if (!(await adapter.exists(upload.pointer))) throw error;
      const found = await adapter.properties(upload.pointer, { skipEtag: true });
      // A call that listed other parts made another object of them.
      const isOther = joiningOf(data)?.etag !== multipartEtag(parts) || found.size !== sizeOf(parts);
      if (joiningOf(data) !== undefined && isOther) throw error;
      return found.lastModified;
    }
  });
}

/** The same on every store: MD5 over the parts' MD5s, and their number. */
function multipartEtag(parts: readonly { readonly etag: string }[]): string {
  const md5s = Buffer.concat(parts.map((part) => Buffer.from(part.etag, 'hex')));
  return `${hash('md5', md5s, 'hex')}-${parts.length}`;
}

/** The records of the listed parts. */
async function checkParts(context: EngineContext, options: CompleteUploadOptions): Promise<UploadPartData[]> {
  const known = new Map<number, UploadPartData>();
  for await (const part of listPartRecords(context, options.uploadId)) known.set(part.partNumber, part);
  if (options.parts.length === 0) throw invalid('parts are required', 'part');
  const listed: UploadPartData[] = [];
  for (const { partNumber, etag } of options.parts) {
    const part = known.get(partNumber);
    if (part === undefined || part.etag !== etag) {
      throw invalid(`part ${partNumber} was not uploaded with etag ${etag}`, 'part');
    }
    listed.push(part);
  }
  checkPartSizes(listed);
  const size = sizeOf(listed);
  if (options.expectedSize !== undefined && options.expectedSize !== size) {
    throw invalid(`the parts have ${size} bytes, not ${options.expectedSize}`, 'upload');
  }
  return listed;
}

function sizeOf(parts: readonly UploadPartData[]): number {
  return parts.reduce((sum, part) => sum + part.size, 0);
}

/** Every part but the last; S3 stores insist on it, and an upload must not depend on the store. */
function checkPartSizes(parts: readonly UploadPartData[]): void {
  for (const part of parts.slice(0, -1))
    if (part.size < minPartBytes)
      throw invalid(
        `part ${part.partNumber} has ${part.size} bytes: every part but the last needs ${minPartBytes}`,
        'part_size',
      );
}

async function answerAgain(
  context: EngineContext,
  scope: RepositoryScope,
  data: UploadData,
  options: CompleteUploadOptions,
): Promise<ObjectEntry> {
  if (data.completedEtag !== multipartEtag(options.parts)) throw notFound('upload');
  const completedAt = data.completedAt === undefined ? 0 : timestampToMillis(data.completedAt);
  const head = await context.branches.find(scope, data.branch);
  if (head === undefined || context.clock() - completedAt > completedLifetimeMs) throw notFound('upload');
  const record = await lookupInBranch(context, scope, head, parseKey(data.path));
  if (record === undefined) throw notFound('upload');
  const entry = decodeObject(context, scope, data.path, record.data);
  if (entry.address !== data.physicalAddress) throw notFound('upload');
  return entry;
}
