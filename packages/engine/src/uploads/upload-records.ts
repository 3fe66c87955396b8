import { uploadMessage, uploadPartMessage, type UploadData, type UploadPartData } from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import type { MultipartUpload } from '@svc/block';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { Upload, UploadTarget } from '../face/uploads.ts';
import { multipartPartsPartition, multipartsPartition, partKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** How long a finished upload answers repeated completions. */
export const completedLifetimeMs: number = 24 * 3_600_000;

/**
 * What `completedEtag` holds while the upload is open: that its parts were never joined, or that a completion has begun,
 * whose object may be staged. Records of earlier versions hold neither; nothing is known of their objects.
 */
export const unjoinedMark = 'unjoined';
export const joiningMark = 'joining:';
/** Somebody is ending the upload, whose parts were never joined. To clients it is gone. */
export const endingMark = 'ending';

export interface StoredUpload {
  readonly data: UploadData;
  readonly predicate: KvPredicate;
}

/** The record of an upload, completed ones included; unknown unless repository, branch and path all match. */
export async function readUpload(context: EngineContext, target: UploadTarget): Promise<StoredUpload> {
  if (target.uploadId === '') throw notFound('upload');
  const found = await context.kv.get(multipartsPartition, Buffer.from(target.uploadId));
  if (found === undefined) throw notFound('upload');
  const data = uploadMessage.decode(found.value);
  const same =
    data.repository === target.repository && data.branch === target.branch && data.path === target.path;
  if (!same) throw notFound('upload');
  return { data, predicate: found.predicate };
}

export async function findUpload(context: EngineContext, uploadId: string): Promise<UploadData | undefined> {
  const found = await context.kv.get(multipartsPartition, Buffer.from(uploadId));
  return found === undefined ? undefined : uploadMessage.decode(found.value);
}

/** Compare-and-set; false when the record changed since it was read. */
export function replaceUpload(
  context: EngineContext,
  stored: StoredUpload,
  data: UploadData,
): Promise<boolean> {
  const key = Buffer.from(data.uploadId);
  return context.kv.setIf(multipartsPartition, key, uploadMessage.encode(data), stored.predicate);
}

/** As `replaceUpload`. */
export function removeUpload(context: EngineContext, { data, predicate }: StoredUpload): Promise<boolean> {
  return context.kv.deleteIf(multipartsPartition, Buffer.from(data.uploadId), predicate);
}

export function storeUploadOf(scope: RepositoryScope, data: UploadData): MultipartUpload {
  return {
    uploadId: data.storeUploadId,
    pointer: {
      storageNamespace: scope.repository.storageNamespace,
      identifier: data.physicalAddress,
      identifierType: 'relative',
    },
  };
}

export async function writePart(
  context: EngineContext,
  uploadId: string,
  part: UploadPartData,
): Promise<void> {
  await context.kv.set(
    multipartPartsPartition(uploadId),
    partKey(part.partNumber),
    uploadPartMessage.encode(part),
  );
}

/** Parts in number order, after the given number. */
export async function* listPartRecords(
  context: EngineContext,
  uploadId: string,
  after = 0,
): AsyncGenerator<UploadPartData> {
  const options = after > 0 ? { after: partKey(after) } : {};
  for await (const page of context.kv.scan(multipartPartsPartition(uploadId), options)) {
    for (const { value } of page) yield uploadPartMessage.decode(value);
  }
}

export async function removePartRecords(context: EngineContext, uploadId: string): Promise<void> {
  const partition = multipartPartsPartition(uploadId);
  for await (const page of context.kv.scan(partition)) {
    await context.kv.deleteMany(
      partition,
      page.map(({ key }) => key),
    );
  }
}

export async function* listUploadRecords(context: EngineContext): AsyncGenerator<UploadData> {
  for await (const page of context.kv.scan(multipartsPartition)) {
    for (const { value } of page) yield uploadMessage.decode(value);
  }
}

export function toUpload(data: UploadData): Upload {
  return {
    uploadId: data.uploadId,
    repository: data.repository,
    branch: data.branch,
    path: data.path,
    creationDate: data.creationDate,
    owner: data.owner,
    metadata: data.metadata,
    contentType: data.contentType,
    systemHeaders: data.systemHeaders,
    storageClass: data.storageClass,
    checksumAlgorithm: data.checksumAlgorithm,
    checksumType: data.checksumType,
    bucketKey: data.bucketKey,
  };
}
