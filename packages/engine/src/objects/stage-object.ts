import { emptyStringMap, timestampFromMillis, timestampFromSeconds, type Entry } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type {
  LinkObjectOptions,
  ObjectEntry,
  Objects,
  PhysicalAddress,
  StageObjectOptions,
} from '../face/objects.ts';
import { checkBranchName, parseKey } from '../names/names.ts';
import { checkStagingWritable } from '../protection/writable.ts';
import { stageEntry } from '../staging/write.ts';
import { signAddress } from './addresses.ts';
import { acceptAddress } from './given-address.ts';
import { toObjectEntry, withBlockStore } from './object-entry.ts';
import { defaultContentType } from './upload-object.ts';

/** Stages an entry for data that is already in the store. */
export function stageObject(context: EngineContext, options: StageObjectOptions): Promise<ObjectEntry> {
  return stageGiven(context, options, false);
}

/** Stages an entry for data the client wrote to an address it got from us. */
export function linkObject(context: EngineContext, options: LinkObjectOptions): Promise<ObjectEntry> {
  if (options.checksum === '') throw invalid('checksum is required', 'object');
  return stageGiven(context, options, true);
}

async function stageGiven(
  context: EngineContext,
  options: LinkObjectOptions,
  signatureRequired: boolean,
): Promise<ObjectEntry> {
  const { branch, path } = options;
  checkBranchName(branch);
  const key = parseKey(path);
  if (!Number.isSafeInteger(options.size) || options.size < 0) {
    throw invalid(`size_bytes must be a non-negative integer, not ${options.size}`, 'object');
  }
  const scope = await context.repositories.open(options.repository);
  await checkStagingWritable(context, scope, branch, options.force);
  const seen = await context.branches.get(scope, branch);
  const given = await acceptAddress(context, {
    scope,
    claim: { repository: options.repository, branch, path },
    physicalAddress: options.physicalAddress,
    signatureRequired,
    rights: options,
  });
  const entry: Entry = {
    ...given,
    lastModified:
      options.mtime === undefined
        ? timestampFromMillis(context.clock())
        : timestampFromSeconds(options.mtime),
    size: options.size,
    etag: unquoted(options.checksum),
    metadata: options.metadata ?? emptyStringMap,
    contentType: options.contentType ?? defaultContentType,
  };
  await stageEntry(context, { scope, branch, key, seen }, entry, options);
  return toObjectEntry(context, scope, path, entry);
}

function unquoted(checksum: string): string {
  return checksum.length >= 2 && checksum.startsWith('"') && checksum.endsWith('"')
    ? checksum.slice(1, -1)
    : checksum;
}

/** A fresh signed address for a client that writes the data itself. Branch and key are checked when it is linked. */
export async function getPhysicalAddress(
  context: EngineContext,
  options: Parameters<Objects['getPhysicalAddress']>[0],
): Promise<PhysicalAddress> {
  const scope = await context.repositories.open(options.repository);
  const identifier = signAddress(context.signingKey, options, context.addresses.next());
  const { storageNamespace } = scope.repository;
  const pointer = { storageNamespace, identifier, identifierType: 'relative' } as const;
  const adapter = adapterOf(context, scope);
  const presigned =
    options.presign === true
      ? await withBlockStore(adapter, () => adapter.presign(pointer, 'write'))
      : undefined;
  return { physicalAddress: adapter.absoluteUri(pointer), presigned };
}
