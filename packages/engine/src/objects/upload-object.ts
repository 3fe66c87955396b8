import { createHash } from 'node:crypto';
import type { BlockAdapter, BodySource, ObjectPointer, PutResult } from '@svc/block';
import { addressRelative, emptyStringMap, timestampFromMillis, type Entry } from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type {
  BodyDigests,
  ObjectEntry,
  Objects,
  UploadObjectOptions,
  WriteCondition,
} from '../face/objects.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { lookupInBranch } from '../staging/lookup.ts';
import type { BranchHead } from '../store/branch-store.ts';
import {
  checkCondition,
  checkMetadata,
  isUnconditional,
  stageEntry,
  type StagedKey,
} from '../staging/write.ts';
import { hashBody, inlineBytes, type HashedBody } from './body-hash.ts';
import { withFreshData } from './fresh-data.ts';
import { checkContentType, checkStorageClass, joinedMaps } from './reserved-metadata.ts';
import { toObjectEntry } from './object-entry.ts';

export const defaultContentType = 'application/octet-stream';

/** Stores the data, then stages the entry; refuses what it can before the first byte is read. */
export async function uploadObject(
  context: EngineContext,
  options: UploadObjectOptions,
): Promise<ObjectEntry> {
  checkStorageClass(options.storageClass);
  const place = await checkUpload(context, options, isSmall(options.body));
  const { scope } = place;
  const adapter = adapterOf(context, scope);
  const address = context.addresses.next();
  const isTrusted = context.storeHashes.isTrusted(adapter, scope.repository.storageNamespace);
  const hashed = await hashBody(context.hashPool, options.body, options.digests ?? [], isTrusted);
  return withFreshData(context, scope, address, async (pointer, trace) => {
    const stored = await withBlockStore(adapter, () =>
      adapter.put(pointer, hashed.body, {
        fresh: true,
        storageClass: options.storageClass,
        contentType: options.contentType,
        md5: hashed.md5,
        signal: options.signal,
      }),
    );
    const digests = await storedDigests(context, adapter, pointer, hashed, stored);
    const kept = options.verify?.(digests);
    const entry: Entry = {
      address,
      addressType: addressRelative,
      lastModified: timestampFromMillis(stored.lastModified?.getTime() ?? context.clock()),
      size: digests.size,
      etag: digests.md5.toString('hex'),
      metadata:
        kept === undefined ? (options.metadata ?? emptyStringMap) : joinedMaps(options.metadata, kept),
      contentType: options.contentType ?? defaultContentType,
    };
    // Rules may have changed while the body was on its way.
    const checking = checkStagingWritable(context, scope, options.branch, options.force);
    if (checking !== undefined) await checking;
    // What was in memory took a moment to store: most likely the branch is as it was. A stream may have taken hours.
    const staged = hashed.body instanceof Uint8Array ? place : { ...place, head: undefined };
    await stageEntry(context, staged, entry, options, trace);
    return toObjectEntry(context, scope, options.path, entry);
  });
}

/** It takes a moment to store, and hardly any room if it was in vain. */
function isSmall(body: BodySource): boolean {
  return body instanceof Uint8Array || (body.size >= 0 && body.size <= inlineBytes);
}

/** The digests of what was just stored; a store that does not tell its MD5 this time has it read back. */
async function storedDigests(
  { storeHashes }: EngineContext,
  adapter: BlockAdapter,
  pointer: ObjectPointer,
  hashed: HashedBody,
  { md5 }: PutResult,
): Promise<BodyDigests> {
  if (!hashed.leavesMd5) {
    const digests = await hashed.digests();
    storeHashes.compare(adapter, pointer.storageNamespace, md5, digests.md5);
    return digests;
  }
  if (md5 !== undefined) return hashed.digests(md5);
  storeHashes.forget(adapter, pointer.storageNamespace);
  const hash = createHash('md5');
  await withBlockStore(adapter, async () => {
    for await (const chunk of (await adapter.get(pointer)).stream()) hash.update(chunk as Buffer);
  });
  return hashed.digests(hash.digest('hex'));
}

/**
 * Everything that refuses an upload before its body is read. With `readsBranchLater` a branch that was there a moment ago
 * may do.
 */
export async function checkUpload(
  context: EngineContext,
  options: Parameters<Objects['checkUpload']>[0],
  readsBranchLater = false,
): Promise<StagedKey> {
  checkBranchName(options.branch);
  const key = parseKey(options.path);
  checkMetadata({ metadata: options.metadata ?? emptyStringMap });
  checkContentType(options.contentType);
  const scope =
    context.repositories.scopeOfOpened(options.opened) ??
    context.repositories.openAtOnce(options.repository) ??
    (await context.repositories.open(options.repository));
  const checking = checkStagingWritable(context, scope, options.branch, options.force);
  if (checking !== undefined) await checking;
  const place = { scope, branch: options.branch, key };
  const lately =
    readsBranchLater && isUnconditional(options) ? context.branches.lately(scope, options.branch) : undefined;
  return { ...place, head: lately ?? (await checkBranchAndCondition(context, place, options)) };
}

export async function checkBranchAndCondition(
  context: EngineContext,
  place: StagedKey,
  condition: WriteCondition,
): Promise<BranchHead> {
  const head = await context.branches.find(place.scope, place.branch);
  if (head === undefined) throw notFound('branch', `branch '${place.branch}' not found`);
  if (isUnconditional(condition)) return head;
  if (condition.ifNoneMatch !== undefined && condition.ifMatch !== undefined) {
    throw new EngineError('not_implemented', 'If-Match together with If-None-Match is not supported');
  }
  checkCondition(condition, await lookupInBranch(context, place.scope, head, place.key));
  return head;
}
