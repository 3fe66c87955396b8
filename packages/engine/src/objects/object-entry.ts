import type { IdentifierType, ObjectPointer } from '@svc/block';
import { addressFull, addressRelative, decodeEntry, type AddressType, type Entry } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { adapterOf } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { ObjectEntry } from '../face/objects.ts';
import type { RepositoryScope } from '../store/scope.ts';

const identifierTypes: Readonly<Record<AddressType, IdentifierType>> = {
  0: 'unknown',
  [addressRelative]: 'relative',
  [addressFull]: 'full',
};
const typeNames: Readonly<Record<AddressType, ObjectEntry['addressType']>> = {
  0: 'by_prefix',
  [addressRelative]: 'relative',
  [addressFull]: 'full',
};
const typeNumbers: Readonly<Record<ObjectEntry['addressType'], AddressType>> = {
  by_prefix: 0,
  relative: addressRelative,
  full: addressFull,
};

/** Where an entry's data is. */
export function pointerOf(
  storageNamespace: string,
  entry: { readonly address: string; readonly addressType: AddressType },
): ObjectPointer {
  return {
    storageNamespace,
    identifier: entry.address,
    identifierType: identifierTypes[entry.addressType],
  };
}

export function pointerOfEntry(scope: RepositoryScope, entry: ObjectEntry): ObjectPointer {
  return pointerOf(scope.repository.storageNamespace, {
    address: entry.address,
    addressType: typeNumbers[entry.addressType],
  });
}

export function toObjectEntry(
  context: EngineContext,
  scope: RepositoryScope,
  path: string,
  entry: Entry,
): ObjectEntry {
  const pointer = pointerOf(scope.repository.storageNamespace, entry);
  return {
    path,
    physicalAddress: adapterOf(context, scope).absoluteUri(pointer),
    address: entry.address,
    addressType: typeNames[entry.addressType],
    etag: entry.etag,
    size: entry.size,
    mtime: entry.lastModified,
    contentType: entry.contentType,
    metadata: entry.metadata,
  };
}

export function decodeObject(
  context: EngineContext,
  scope: RepositoryScope,
  path: string,
  data: Buffer,
): ObjectEntry {
  const entry = decodeEntry(data);
  if (entry.size < 0) {
    throw new EngineError('corrupt', `the entry of '${path}' has a negative size`, { subject: 'object' });
  }
  return toObjectEntry(context, scope, path, entry);
}

/** Refuses a copy of more or fewer bytes than the source's entry promises: the copy would lie, too. */
export function checkCopied(source: ObjectEntry, promised: number, copied: number): void {
  if (copied === promised) return;
  throw invalid(
    `the data of '${source.path}' is not what its entry says: ${copied} bytes instead of ${promised}`,
    'object',
  );
}
