import type { MultipartUpload, PresignedUrl } from '@svc/block';
import { addressRelative, emptyStringMap, timestampFromMillis, type Entry } from '@svc/encoding';
import { fromBlockError, withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { ObjectEntry, Objects, PresignedMultipart, PresignedMultipartTarget } from '../face/objects.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { stageEntry } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { signAddress } from './addresses.ts';
import { acceptAddress } from './given-address.ts';
import { checkCopied, pointerOfEntry, toObjectEntry } from './object-entry.ts';
import { checkSameStore } from './change-object.ts';
import { findObject } from './read-object.ts';
import { checkContentType, refuseReserved } from './reserved-metadata.ts';
import { defaultContentType } from './upload-object.ts';

const maxParts = 10_000;

/** Starts an upload whose parts the client sends straight to the store. */
export async function createPresignedMultipart(
  context: EngineContext,
  options: Parameters<Objects['createPresignedMultipart']>[0],
): Promise<PresignedMultipart> {
  const scope = await openSupported(context, options.repository);
  const parts = options.parts ?? 0;
  if (!Number.isInteger(parts) || parts < 0 || parts > maxParts) {
    throw invalid(`parts can be between 0 and ${maxParts}`, 'object');
  }
  await checkPlace(context, scope, options);
  const adapter = adapterOf(context, scope);
  const identifier = signAddress(context.signingKey, options, context.addresses.next());
  const pointer = {
    storageNamespace: scope.repository.storageNamespace,
    identifier,
    identifierType: 'relative',
  } as const;
  return withBlockStore(adapter, async () => {
    const uploadId = await adapter.createMultipart(pointer, { contentType: undefined });
    const presignedUrls: string[] = [];
    for (let partNumber = 1; partNumber <= parts; partNumber += 1) {
      presignedUrls.push((await adapter.presignPart({ pointer, uploadId }, partNumber)).url);
    }
    return { uploadId, physicalAddress: adapter.absoluteUri(pointer), presignedUrls };
  });
}

export async function presignMultipartPart(
  context: EngineContext,
  options: PresignedMultipartTarget & { readonly partNumber: number },
): Promise<PresignedUrl> {
  checkPartNumber(options.partNumber);
  const scope = await openSupported(context, options.repository);
  const upload = await uploadOf(context, scope, options);
  return withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.presignPart(upload, options.partNumber),
  );
}

/** Copies an object, or a range of it, into a part. */
export async function copyMultipartPart(
  context: EngineContext,
  options: Parameters<Objects['copyMultipartPart']>[0],
): Promise<{ etag: string }> {
  checkPartNumber(options.partNumber);
  const scope = await openSupported(context, options.repository);
  const upload = await uploadOf(context, scope, options);
  const sourceScope = await context.repositories.open(options.source.repository);
  checkSameStore(scope, sourceScope);
  const source = await findObject(context, sourceScope, options.source.ref, options.source.path);
  const { range } = options;
  if (range !== undefined && (range.start < 0 || range.end < range.start || range.end >= source.size)) {
    throw invalid(
      `range ${range.start}-${range.end} lies outside of the source's ${source.size} bytes`,
      'object',
    );
  }
  const part = await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.uploadPartCopy(upload, options.partNumber, pointerOfEntry(sourceScope, source), range),
  );
  checkCopied(source, range === undefined ? source.size : range.end - range.start + 1, part.size);
  return { etag: part.etag };
}

/** Joins the parts and stages the object. */
export async function completePresignedMultipart(
  context: EngineContext,
  options: Parameters<Objects['completePresignedMultipart']>[0],
): Promise<ObjectEntry> {
  const scope = await openSupported(context, options.repository);
  if (options.parts.length === 0) throw invalid('parts are required', 'object');
  refuseReserved(options.metadata);
  checkContentType(options.contentType);
  const key = await checkPlace(context, scope, options);
  const upload = await uploadOf(context, scope, options);
  const completed = await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.completeMultipart(upload, options.parts),
  );
  const entry: Entry = {
    address: upload.pointer.identifier,
    addressType: addressRelative,
    lastModified: timestampFromMillis(completed.lastModified?.getTime() ?? context.clock()),
    size: completed.size,
    etag: completed.etag,
    metadata: options.metadata ?? emptyStringMap,
    contentType: options.contentType ?? defaultContentType,
  };
  await stageEntry(context, { scope, branch: options.branch, key }, entry);
  return toObjectEntry(context, scope, options.path, entry);
}

export async function abortPresignedMultipart(
  context: EngineContext,
  options: PresignedMultipartTarget,
): Promise<void> {
  const scope = await openSupported(context, options.repository);
  await checkPlace(context, scope, options);
  const upload = await uploadOf(context, scope, options);
  try {
    await adapterOf(context, scope).abortMultipart(upload);
  } catch (error) {
    throw fromBlockError(error);
  }
}

async function openSupported(context: EngineContext, repository: string): Promise<RepositoryScope> {
  const scope = await context.repositories.open(repository);
  if (!adapterOf(context, scope).info.preSignMultipartUpload) {
    throw new EngineError('not_implemented', 'presign multipart upload API is not supported', {
      subject: 'storage',
    });
  }
  return scope;
}

async function checkPlace(
  context: EngineContext,
  scope: RepositoryScope,
  options: { readonly branch: string; readonly path: string },
): Promise<Buffer> {
  checkBranchName(options.branch);
  const key = parseKey(options.path);
  await checkStagingWritable(context, scope, options.branch, false);
  if ((await context.branches.find(scope, options.branch)) === undefined) {
    throw notFound('branch', `branch '${options.branch}' not found`);
  }
  return key;
}

async function uploadOf(
  context: EngineContext,
  scope: RepositoryScope,
  options: PresignedMultipartTarget,
): Promise<MultipartUpload> {
  if (options.physicalAddress === '') throw invalid('physical_address is required', 'object');
  const {
    given: { address, addressType },
  } = await acceptAddress(context, {
    scope,
    claim: options,
    physicalAddress: options.physicalAddress,
    signatureRequired: true,
    rights: {},
  });
  if (addressType !== addressRelative) throw invalid('address is not signed: link address invalid', 'object');
  return {
    uploadId: options.uploadId,
    pointer: {
      storageNamespace: scope.repository.storageNamespace,
      identifier: address,
      identifierType: 'relative',
    },
  };
}

function checkPartNumber(partNumber: number): void {
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxParts) {
    throw invalid(`part number must be between 1 and ${maxParts}`, 'part');
  }
}
