import { addressRelative, emptyStringMap, timestampFromMillis } from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { ObjectEntry, Objects } from '../face/objects.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { checkMetadata } from '../staging/write.ts';
import { signAddress } from './addresses.ts';
import { hashBody } from './body-hash.ts';
import { withFreshData } from './fresh-data.ts';
import { toObjectEntry } from './object-entry.ts';
import { checkContentType, refuseReserved } from './reserved-metadata.ts';
import { defaultContentType } from './upload-object.ts';

/** Stores data for a resolution and stages nothing, so that protected branches are no obstacle. */
export async function uploadScratch(
  context: EngineContext,
  options: Parameters<Objects['uploadScratch']>[0],
): Promise<ObjectEntry> {
  const { repository, branch, path, contentType, metadata } = options;
  checkBranchName(branch);
  parseKey(path);
  refuseReserved(metadata);
  checkMetadata({ metadata: metadata ?? emptyStringMap });
  checkContentType(contentType);
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, options.force);
  await context.branches.get(scope, branch);
  const adapter = adapterOf(context, scope);
  const address = signAddress(context.signingKey, { repository, branch, path }, context.addresses.next());
  const hashed = await hashBody(context.hashPool, options.body, []);
  return withFreshData(context, scope, address, async (pointer) => {
    const stored = await withBlockStore(adapter, () =>
      adapter.put(pointer, hashed.body, {
        fresh: true,
        contentType,
        md5: hashed.md5,
        signal: options.signal,
      }),
    );
    const { size, md5 } = await hashed.digests();
    return toObjectEntry(context, scope, path, {
      address,
      addressType: addressRelative,
      lastModified: timestampFromMillis(stored.lastModified?.getTime() ?? context.clock()),
      size,
      etag: md5.toString('hex'),
      metadata: metadata ?? emptyStringMap,
      contentType: contentType ?? defaultContentType,
    });
  });
}
