import { randomBytes } from 'node:crypto';
import type { UploadedPart } from '@svc/block';
import {
  emptyStringMap,
  timestampFromMillis,
  uploadMessage,
  type UploadData,
  type UploadPartData,
} from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type {
  CopyPartOptions,
  CreateUploadOptions,
  PutPartOptions,
  Upload,
  UploadPart,
  Uploads,
  UploadTarget,
} from '../face/uploads.ts';
import type { ObjectEntry } from '../face/objects.ts';
import { hashBody } from '../objects/body-hash.ts';
import { digestOfStored } from '../objects/describe-copy.ts';
import { checkSameStore } from '../objects/change-object.ts';
import { checkCopied, pointerOfEntry } from '../objects/object-entry.ts';
import { findObject } from '../objects/read-object.ts';
import { checkStorageClass } from '../objects/reserved-metadata.ts';
import { checkUpload, defaultContentType } from '../objects/upload-object.ts';
import { multipartsPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { completeUpload } from './complete-upload.ts';
import { endUpload } from './end-upload.ts';
import { readOpenUpload, settled } from './joining.ts';
import { listUploads } from './list-uploads.ts';
import {
  findUpload,
  listPartRecords,
  storeUploadOf,
  toUpload,
  unjoinedMark,
  writePart,
} from './upload-records.ts';

const maxParts = 10_000;
const maxListedParts = 1000;

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
    findOfBucket: async ({ bucket, key, uploadId }) => {
      const found = await findUpload(context, uploadId);
      if (found?.bucket !== bucket || found.bucketKey !== key) return undefined;
      return { repository: found.repository, branch: found.branch, path: found.path };
    },
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
  const uploadId = randomBytes(24).toString('base64url');
  const dataOf = (storeUploadId: string): UploadData => ({
    uploadId,
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
    completedEtag: unjoinedMark,
    completedAt: undefined,
    checksumAlgorithm: options.checksumAlgorithm ?? '',
    checksumType: options.checksumType ?? '',
    bucket: options.bucket?.bucket ?? '',
    bucketKey: options.bucket?.key ?? '',
  });
  const key = Buffer.from(uploadId);
  let isRemembered = false;
  const remember = async (storeUploadId: string): Promise<void> => {
    await context.kv.set(multipartsPartition, key, uploadMessage.encode(dataOf(storeUploadId)));
    isRemembered = true;
  };
  // The caller has no upload id yet and could not end what is left of a refused upload.
  const isLeft = (left: unknown): void =>
    context.logger.warn({ err: left }, 'a refused upload stays in the store');
  let storeUploadId: string;
  try {
    storeUploadId = await withBlockStore(adapter, () =>
      adapter.createMultipart(pointer, { storageClass, contentType }, remember),
    );
  } catch (error) {
    if (isRemembered) await context.kv.delete(multipartsPartition, key).catch(isLeft);
    throw error;
  }
  try {
    if (!isRemembered) await remember(storeUploadId);
  } catch (error) {
    await adapter.abortMultipart({ pointer, uploadId: storeUploadId }).catch(isLeft);
    throw error;
  }
  return toUpload(dataOf(storeUploadId));
}

async function putPart(context: EngineContext, options: PutPartOptions): Promise<UploadPart> {
  checkPartNumber(options.partNumber);
  const { data } = await readOpenUpload(context, options);
  const scope = await context.repositories.open(options.repository);
  const adapter = adapterOf(context, scope);
  const upload = storeUploadOf(scope, data);
  const { storeHashes } = context;
  const { storageNamespace } = upload.pointer;
  const isTrusted = storeHashes.isTrusted(adapter, storageNamespace);
  const hashed = await hashBody(context.hashPool, options.body, options.digests ?? [], isTrusted);
  return rememberedPart(context, data, options.partNumber, (accept) =>
    withBlockStore(adapter, () =>
      adapter.uploadPart(upload, options.partNumber, hashed.body, async ({ etag, md5 }) => {
        if (md5 === undefined) storeHashes.forget(adapter, storageNamespace);
        const digests = await hashed.digests(md5);
        if (!hashed.leavesMd5) storeHashes.compare(adapter, storageNamespace, md5, digests.md5);
        await accept({ etag, size: digests.size }, options.verify?.(digests));
      }),
    ),
  );
}

async function copyPart(context: EngineContext, options: CopyPartOptions): Promise<UploadPart> {
  checkPartNumber(options.partNumber);
  const { data } = await readOpenUpload(context, options);
  const scope = await context.repositories.open(options.repository);
  const sourceScope = await context.repositories.open(options.source.repository);
  checkSameStore(scope, sourceScope);
  const source = await findObject(context, sourceScope, options.source.ref, options.source.path);
  options.checkSource?.(source);
  const { range } = options;
  if (range !== undefined && (range.start < 0 || range.end < range.start || range.end >= source.size)) {
    throw invalid(
      `range ${range.start}-${range.end} lies outside of the source's ${source.size} bytes`,
      'object',
    );
  }
  return rememberedPart(context, data, options.partNumber, (accept) =>
    withBlockStore(adapterOf(context, scope), (adapter) =>
      adapter.uploadPartCopy(
        storeUploadOf(scope, data),
        options.partNumber,
        pointerOfEntry(sourceScope, source),
        range,
        async (part) => {
          checkCopied(source, range === undefined ? source.size : range.end - range.start + 1, part.size);
          await accept(part, await copiedChecksum(context, sourceScope, source, options));
        },
      ),
    ),
  );
}

async function copiedChecksum(
  context: EngineContext,
  scope: RepositoryScope,
  source: ObjectEntry,
  { digest, range }: CopyPartOptions,
): Promise<UploadPartData['checksums'] | undefined> {
  if (digest === undefined) return undefined;
  const value = (await digestOfStored(context, scope, source, digest, range)).toString('base64');
  return { [`x-amz-checksum-${digest}`]: value };
}

/** The record is written while the store still holds the part back: without a record nothing of it stays. */
async function rememberedPart(
  context: EngineContext,
  upload: UploadData,
  partNumber: number,
  store: (
    accept: (part: UploadedPart, checksums?: UploadPartData['checksums']) => Promise<void>,
  ) => Promise<unknown>,
): Promise<UploadPart> {
  let remembered: UploadPart | undefined;
  await store(async ({ etag, size }, checksums = emptyStringMap) => {
    const part = {
      partNumber,
      etag,
      size,
      lastModified: timestampFromMillis(context.clock()),
      checksums,
    };
    await writePart(context, upload.uploadId, part);
    remembered = part;
  });
  if (remembered === undefined) throw new Error('a store took a part without asking whether it is accepted');
  return remembered;
}

async function abortUpload(context: EngineContext, target: UploadTarget): Promise<void> {
  const scope = await context.repositories.open(target.repository);
  await readOpenUpload(context, target);
  const stored = await settled(context, target);
  if (stored.data.completedAt !== undefined) throw notFound('upload');
  await endUpload(context, scope, stored);
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
