import { addressRelative, timestampFromMillis, type Entry } from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type {
  CopyObjectOptions,
  DeleteObjectOptions,
  DeleteObjectsOptions,
  ObjectEntry,
  ObjectFailure,
  Objects,
} from '../face/objects.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { changeEntry, removeEntry, stageEntry } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { withFreshData } from './fresh-data.ts';
import { checkCopied, pointerOfEntry, toObjectEntry } from './object-entry.ts';
import { findObject } from './read-object.ts';
import { describeCopy } from './describe-copy.ts';
import { tagMap } from './object-tags.ts';
import { joinedMaps, refuseReserved, reservedMetadata, withoutTags } from './reserved-metadata.ts';
import { checkBranchAndCondition } from './upload-object.ts';

const maxPaths = 1000;
/** Deletions of one request under way at the same time. */
const parallelDeletes = 32;

/** Copies the data to a new address and stages the copy. */
export async function copyObject(context: EngineContext, options: CopyObjectOptions): Promise<ObjectEntry> {
  const { source, destination } = options;
  checkBranchName(destination.branch);
  const key = parseKey(destination.path, 'dest_path');
  parseKey(source.path, 'src_path');
  const scope = await context.repositories.open(destination.repository);
  await checkStagingWritable(context, scope, destination.branch, options.force);
  const place = { scope, branch: destination.branch, key };
  await checkBranchAndCondition(context, place, options);
  const sourceScope = await context.repositories.open(source.repository);
  checkSameStore(scope, sourceScope);
  const original = await findObject(context, sourceScope, source.ref, source.path);
  options.checkSource?.(original);
  const adapter = adapterOf(context, scope);
  const address = context.addresses.next();
  return withFreshData(context, scope, address, async (pointer, trace) => {
    const copied = await withBlockStore(adapter, () =>
      adapter.copy(pointerOfEntry(sourceScope, original), pointer),
    );
    const entry: Entry = {
      address,
      addressType: addressRelative,
      lastModified: timestampFromMillis(copied.lastModified?.getTime() ?? context.clock()),
      size: original.size,
      etag: original.etag,
      metadata: await describeCopy(context, sourceScope, original, options),
      contentType: options.contentType ?? original.contentType,
    };
    checkCopied(original, original.size, copied.size);
    await stageEntry(context, place, entry, options, trace);
    return toObjectEntry(context, scope, destination.path, entry);
  });
}

/** An address means something only in its own store. */
export function checkSameStore(left: RepositoryScope, right: RepositoryScope): void {
  if (left.repository.storageId !== right.repository.storageId) {
    throw invalid('cannot copy between repositories on different block stores', 'storage');
  }
}

/** Replaces an object's whole user metadata; the headers kept with it stay. */
export async function updateMetadata(
  context: EngineContext,
  options: Parameters<Objects['updateMetadata']>[0],
): Promise<void> {
  const { repository, branch, path, metadata } = options;
  checkBranchName(branch);
  const key = parseKey(path);
  refuseReserved(metadata);
  const scope = await context.repositories.open(repository);
  await checkStagingWritable(context, scope, branch, false);
  try {
    await changeEntry(context, { scope, branch, key }, (entry) => ({
      ...entry,
      metadata: joinedMaps(metadata, reservedMetadata(entry.metadata)),
    }));
  } catch (error) {
    if (!(error instanceof EngineError) || error.kind !== 'not_found' || error.subject !== 'object')
      throw error;
    throw notFound('object', `update user metadata on ${repository}/${branch}/${path}: not found`);
  }
}

/** Replaces the tags of an object and nothing else. */
export async function setTags(
  context: EngineContext,
  options: Parameters<Objects['setTags']>[0],
): Promise<void> {
  const { repository, branch, path, tags } = options;
  checkBranchName(branch);
  const key = parseKey(path);
  const scope = await context.repositories.open(repository);
  await checkStagingWritable(context, scope, branch, false);
  await changeEntry(context, { scope, branch, key }, (entry) => ({
    ...entry,
    metadata: joinedMaps(withoutTags(entry.metadata), tagMap(tags)),
  }));
}

export async function deleteObject(context: EngineContext, options: DeleteObjectOptions): Promise<void> {
  checkBranchName(options.branch);
  const key = parseKey(options.path);
  const scope = await context.repositories.open(options.repository);
  await checkStagingWritable(context, scope, options.branch, options.force);
  await removeEntry(context, { scope, branch: options.branch, key }, options);
}

/** Deletes many paths, not atomically; returns those that could not be deleted. Empty paths are skipped. */
export async function deleteObjects(
  context: EngineContext,
  options: DeleteObjectsOptions,
): Promise<ObjectFailure[]> {
  const { branch, paths } = options;
  checkBranchName(branch);
  if (paths.length > maxPaths) throw invalid(`request size exceeded, max paths is set to ${maxPaths}`);
  const scope = await context.repositories.open(options.repository);
  await context.branches.get(scope, branch);
  const failures: ObjectFailure[] = [];
  const rest = [...new Set(paths)].filter((path) => path !== '');
  while (rest.length > 0) {
    const batch = rest.splice(0, parallelDeletes);
    await Promise.all(
      batch.map(async (path) => {
        try {
          await checkStagingWritable(context, scope, branch, options.force);
          await removeEntry(
            context,
            { scope, branch, key: parseKey(path) },
            { noTombstone: options.noTombstone },
          );
        } catch (error) {
          failures.push({ path, error: error instanceof Error ? error : new Error(String(error)) });
        }
      }),
    );
  }
  return failures;
}
