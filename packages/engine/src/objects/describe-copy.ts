import type { StringMap } from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { CopyObjectOptions, ObjectEntry } from '../face/objects.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { addChecksum, type ChecksumName } from './content-metadata.ts';
import { createDigest, loadDigests } from './digests.ts';
import { pointerOfEntry } from './object-entry.ts';
import { tagMap } from './object-tags.ts';
import {
  contentMetadata,
  joinedMaps,
  soundMetadata,
  tagMetadata,
  withoutStorageClass,
  withoutTags,
} from './reserved-metadata.ts';

/**
 * The metadata of a copy: the source's or what replaces it, and always what is true of the bytes. The store writes a copy
 * in its standard class.
 */
export async function describeCopy(
  context: EngineContext,
  scope: RepositoryScope,
  source: ObjectEntry,
  options: Pick<CopyObjectOptions, 'metadata' | 'tags' | 'checksum'>,
): Promise<StringMap> {
  const { metadata, tags, checksum } = options;
  if (metadata === undefined && tags === undefined && checksum === undefined)
    return withoutStorageClass(soundMetadata(source.metadata));
  return joinedMaps(
    withoutStorageClass(withoutTags(metadata ?? withoutContent(soundMetadata(source.metadata)))),
    checksum === undefined
      ? contentMetadata(source.metadata)
      : await newChecksum(context, scope, source, checksum),
    tags === undefined ? tagMetadata(source.metadata) : tagMap(tags),
  );
}

function withoutContent(metadata: StringMap): StringMap {
  const content = contentMetadata(metadata);
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !(key in content)));
}

async function newChecksum(
  context: EngineContext,
  scope: RepositoryScope,
  source: ObjectEntry,
  algorithm: ChecksumName,
): Promise<StringMap> {
  const kept = Object.create(null) as Record<string, string>;
  const value = (await digestOfStored(context, scope, source, algorithm)).toString('base64');
  addChecksum(kept, { algorithm, type: 'FULL_OBJECT', value });
  return kept;
}

/** A digest of bytes that are in the store already. */
export async function digestOfStored(
  context: EngineContext,
  scope: RepositoryScope,
  source: ObjectEntry,
  algorithm: ChecksumName,
  range?: { readonly start: number; readonly end: number },
): Promise<Buffer> {
  await loadDigests([algorithm]);
  const digest = createDigest(algorithm);
  const pointer = pointerOfEntry(scope, source);
  return withBlockStore(adapterOf(context, scope), async (adapter) => {
    const body =
      range === undefined
        ? await adapter.get(pointer)
        : await adapter.getRange(pointer, range.start, range.end);
    if (body.bytes !== undefined) digest.update(body.bytes);
    else for await (const chunk of body.stream()) digest.update(chunk as Buffer);
    return digest.digest();
  });
}
