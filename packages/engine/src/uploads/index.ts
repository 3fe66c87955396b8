import { hash, randomBytes } from 'node:crypto';
import { BlockError } from '@svc/block';
import {
  addressRelative,
  emptyStringMap,
  timestampFromMillis,
  timestampToMillis,
  uploadMessage,
  type Entry,
  type UploadData,
  type UploadPartData,
} from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type { ObjectEntry } from '../face/objects.ts';
import type {
  CompleteUploadOptions,
  CopyPartOptions,
  CreateUploadOptions,
  PutPartOptions,
  Upload,
  UploadPart,
  Uploads,
  UploadTarget,
} from '../face/uploads.ts';
import { parseKey } from '../names/names.ts';
import { hashBody } from '../objects/body-hash.ts';
import {
  checkCopied,
  decodeObject,
  pointerOfEntry,
  toObjectEntry,
  withBlockStore,
} from '../objects/object-entry.ts';
import { findObject } from '../objects/read-object.ts';
import { checkStorageClass } from '../objects/reserved-metadata.ts';
import { checkBranchAndCondition, checkUpload, defaultContentType } from '../objects/upload-object.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { lookupInBranch } from '../staging/lookup.ts';
import { stageEntry } from '../staging/write.ts';
import { multipartsPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { listUploads } from './list-uploads.ts';
import {
  listPartRecords,
  readOpenUpload,
  readUpload,
  removePartRecords,
  storeUploadOf,
  toUpload,
  writePart,
} from './upload-records.ts';

const maxParts = 10_000;
const maxListedParts = 1000;
/** How long a finished upload answers repeated completions. */
const completedLifetimeMs = 24 * 3_600_000;

export function uploads(context: EngineContext): Uploads {
  return {
    create: (options) => createUpload(context, options),
    get: async (target) => toUpload((await readOpenUpload(context, target)).data),
    putPart: (options) => putPart(context, options),
    copyPart: (options) => copyPart(context, options),
    complete: (options) => completeUpload(context, options),
    abort: (target) => abortUpload(context, target),
    listParts: (options) => listParts(context, options),
    list: (options) => listUploads(context, options),
  };
}

async function createUpload(context: EngineContext, options: CreateUploadOptions): Promise<Upload> {
  checkStorageClass(options.storageClass);
  const { scope } = await checkUpload(context, options);
  const adapter = adapterOf(context, scope);
  const physicalAddress = context.addresses.next();
  const pointer = {
    storageNamespace: scope.repository.storageNamespace,
    identifier: physicalAddress,
    identifierType: 'relative',
  } as const;
  const { storageClass, contentType } = options;
  const storeUploadId = await withBlockStore(adapter, () =>
    adapter.createMultipart(pointer, { storageClass, contentType }),
  );
  const data: UploadData = {
    uploadId: randomBytes(24).toString('base64url'),
    path: options.path,
    creationDate: timestampFromMillis(context.clock()),
    physicalAddress,
    metadata: options.metadata ?? emptyStringMap,
    contentType: contentType ?? defaultContentType,
    repository: options.repository,
    branch: options.branch,
    owner: options.owner,
    storeUploadId,
    systemHeaders: options.systemHeaders ?? emptyStringMap,
    storageClass: storageClass ?? '',
    completedEtag: '',
    completedAt: undefined,
  };
  await context.kv.set(multipartsPartition, Buffer.from(data.uploadId), uploadMessage.encode(data));
  return toUpload(data);
}

async function putPart(context: EngineContext, options: PutPartOptions): Promise<UploadPart> {
  checkPartNumber(options.partNumber);
  const { data } = await readOpenUpload(context, options);
  const scope = await context.repositories.open(options.repository);
  const adapter = adapterOf(context, scope);
  const hashed = await hashBody(context.hashPool, options.body, options.digests ?? []);
  const stored = await withBlockStore(adapter, () =>
    adapter.uploadPart(storeUploadOf(scope, data), options.partNumber, hashed.body),
  );
  const digests = await hashed.digests();
  // A refused part stays without a record, so no completion can name it.
  const checksums = options.verify?.(digests) ?? emptyStringMap;
  return rememberPart(context, data, {
    partNumber: options.partNumber,
    etag: stored.etag,
    size: digests.size,
    lastModified: timestampFromMillis(context.clock()),
    checksums,
  });
}

async function copyPart(context: EngineContext, options: CopyPartOptions): Promise<UploadPart> {
  checkPartNumber(options.partNumber);
  const { data } = await readOpenUpload(context, options);
  const scope = await context.repositories.open(options.repository);
  const sourceScope = await context.repositories.open(options.source.repository);
  const source = await findObject(context, sourceScope, options.source.ref, options.source.path);
  options.checkSource?.(source);
  const { range } = options;
  if (range !== undefined && (range.start < 0 || range.end < range.start || range.end >= source.size)) {
    throw invalid(
      `range ${range.start}-${range.end} lies outside of the source's ${source.size} bytes`,
      'object',
    );
  }
  const stored = await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.uploadPartCopy(
      storeUploadOf(scope, data),
      options.partNumber,
      pointerOfEntry(sourceScope, source),
      range,
    ),
  );
  // A refused part stays without a record, so no completion can name it.
  checkCopied(source, range === undefined ? source.size : range.end - range.start + 1, stored.size);
  return rememberPart(context, data, {
    partNumber: options.partNumber,
    etag: stored.etag,
    size: stored.size,
    lastModified: timestampFromMillis(context.clock()),
    checksums: emptyStringMap,
  });
}

async function rememberPart(
  context: EngineContext,
  upload: UploadData,
  part: UploadPartData,
): Promise<UploadPart> {
  await writePart(context, upload.uploadId, part);
  return part;
}

/** Joins the listed parts and stages the object; a repeated call answers the same while the object is current. */
async function completeUpload(context: EngineContext, options: CompleteUploadOptions): Promise<ObjectEntry> {
  const upload = await readUpload(context, options);
  const { data } = upload;
  const scope = await context.repositories.open(options.repository);
  if (data.completedAt !== undefined) return answerAgain(context, scope, data);
  const key = parseKey(options.path);
  await checkStagingWritable(context, scope, options.branch, options.force);
  const place = { scope, branch: options.branch, key };
  await checkBranchAndCondition(context, place, options);
  const parts = await checkParts(context, options);
  const lastModified = await joinParts(context, scope, data, parts);
  const etag = multipartEtag(parts);
  const entry: Entry = {
    address: data.physicalAddress,
    addressType: addressRelative,
    lastModified: timestampFromMillis(lastModified?.getTime() ?? context.clock()),
    size: parts.reduce((sum, part) => sum + part.size, 0),
    etag,
    metadata: { ...data.metadata, ...data.systemHeaders },
    contentType: data.contentType,
  };
  await stageEntry(context, place, entry, options);
  const record = uploadMessage.encode({
    ...data,
    completedEtag: etag,
    completedAt: timestampFromMillis(context.clock()),
  });
  await context.kv.setIf(multipartsPartition, Buffer.from(data.uploadId), record, upload.predicate);
  await removePartRecords(context, data.uploadId);
  return toObjectEntry(context, scope, options.path, entry);
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
      return (await adapter.properties(upload.pointer, { skipEtag: true })).lastModified;
    }
  });
}

/** The same on every store: MD5 over the parts' MD5s, and their number. */
function multipartEtag(parts: readonly UploadPartData[]): string {
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
  const size = listed.reduce((sum, part) => sum + part.size, 0);
  if (options.expectedSize !== undefined && options.expectedSize !== size) {
    throw invalid(`the parts have ${size} bytes, not ${options.expectedSize}`, 'upload');
  }
  return listed;
}

async function answerAgain(
  context: EngineContext,
  scope: RepositoryScope,
  data: UploadData,
): Promise<ObjectEntry> {
  const completedAt = data.completedAt === undefined ? 0 : timestampToMillis(data.completedAt);
  const branch = await context.branches.find(scope, data.branch);
  if (branch === undefined || context.clock() - completedAt > completedLifetimeMs) throw notFound('upload');
  const record = await lookupInBranch(context, scope, branch, parseKey(data.path));
  if (record === undefined) throw notFound('upload');
  const entry = decodeObject(context, scope, data.path, record.data);
  if (entry.address !== data.physicalAddress) throw notFound('upload');
  return entry;
}

async function abortUpload(context: EngineContext, target: UploadTarget): Promise<void> {
  const { data } = await readOpenUpload(context, target);
  const scope = await context.repositories.open(target.repository);
  await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.abortMultipart(storeUploadOf(scope, data)),
  );
  await removePartRecords(context, data.uploadId);
  await context.kv.delete(multipartsPartition, Buffer.from(data.uploadId));
}

async function listParts(
  context: EngineContext,
  options: Parameters<Uploads['listParts']>[0],
): Promise<{ parts: UploadPart[]; hasMore: boolean }> {
  await readOpenUpload(context, options);
  const amount = Math.min(options.amount ?? maxListedParts, maxListedParts);
  const parts: UploadPart[] = [];
  for await (const part of listPartRecords(context, options.uploadId, options.after)) {
    if (parts.length === amount) return { parts, hasMore: true };
    parts.push(part);
  }
  return { parts, hasMore: false };
}

function checkPartNumber(partNumber: number): void {
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxParts) {
    throw invalid(`part number must be between 1 and ${maxParts}`, 'part');
  }
}
