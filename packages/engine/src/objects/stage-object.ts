import { BlockError } from '@svc/block';
import { emptyStringMap, timestampFromMillis, timestampFromSeconds, type Entry } from '@svc/encoding';
import { withBlockStore } from '../context/block-refusals.ts';
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
import { isUnconditional, stageEntry } from '../staging/write.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { stagingBrought } from '../gc/brought-data.ts';
import { signAddress } from './addresses.ts';
import { acceptAddress, type GivenAddress } from './given-address.ts';
import { pointerOf, toObjectEntry } from './object-entry.ts';
import { checkContentType, refuseReserved } from './reserved-metadata.ts';
import { defaultContentType } from './upload-object.ts';

/** What a stored timestamp may hold. */
const firstSecond = -62_135_596_800;
const lastSecond = 253_402_300_799;

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
  checkDescription(options);
  const { repositories } = context;
  const scope = repositories.openAtOnce(options.repository) ?? (await repositories.open(options.repository));
  const checking = checkStagingWritable(context, scope, branch, options.force);
  if (checking !== undefined) await checking;
  const lately = isUnconditional(options) ? context.branches.lately(scope, branch) : undefined;
  const head = lately ?? (await context.branches.get(scope, branch));
  const { given, brought } = await acceptAddress(context, {
    scope,
    claim: { repository: options.repository, branch, path },
    physicalAddress: options.physicalAddress,
    signatureRequired,
    rights: options,
  });
  if (signatureRequired) await checkLinkedSize(context, scope, given, options);
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
  const place = { scope, branch, key, head };
  const stage = (): Promise<void> => stageEntry(context, place, entry, options);
  if (brought === undefined) await stage();
  else await stagingBrought(context, place, { entry, brought }, stage);
  return toObjectEntry(context, scope, path, entry);
}

/** What a client says of an object comes back in headers of its answers. */
export function checkDescription(
  options: Pick<LinkObjectOptions, 'size' | 'metadata' | 'contentType' | 'mtime'>,
): void {
  if (!Number.isSafeInteger(options.size) || options.size < 0) {
    throw invalid(`size_bytes must be a non-negative integer, not ${options.size}`, 'object');
  }
  refuseReserved(options.metadata);
  checkContentType(options.contentType);
  const { mtime } = options;
  if (mtime !== undefined && !(mtime >= firstSecond && mtime <= lastSecond)) {
    throw invalid(`mtime must be a time between the years 1 and 9999, not ${mtime}`, 'object');
  }
}

/**
 * Where the store can tell, a linked entry may not lie about the size of its data, which may also come later. Staging
 * asks no store: it takes thousands of entries a second, and reading an object never sends more or less than promised.
 */
export async function checkLinkedSize(
  context: EngineContext,
  scope: RepositoryScope,
  given: GivenAddress,
  options: Pick<LinkObjectOptions, 'size'>,
): Promise<void> {
  const pointer = pointerOf(scope.repository.storageNamespace, given);
  let stored: number;
  try {
    stored = (await adapterOf(context, scope).properties(pointer, { skipEtag: true })).size;
  } catch (error) {
    if (error instanceof BlockError) return;
    throw error;
  }
  if (stored === options.size) return;
  throw invalid(`size_bytes is ${options.size}, but the data at the address has ${stored} bytes`, 'object');
}

export function unquoted(checksum: string): string {
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
