import { BlockError, type BlockAdapter } from '@svc/block';
import { addressFull, addressRelative, type AddressType } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { AddressRights } from '../face/objects.ts';
import { parseDataKey } from '../gc/collector/data-key.ts';
import { liesInside } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkImport, checkMayRead } from './address-rights.ts';
import { verifyAddress, type AddressClaim } from './addresses.ts';

export interface GivenAddress {
  readonly address: string;
  readonly addressType: AddressType;
}

/** Whose data an address without a signature of ours names, in the one spelling there is. */
export interface BroughtAddress {
  readonly repository: string;
  readonly canonical: string;
}

export interface AcceptedAddress {
  readonly given: GivenAddress;
  /** Undefined when the address is signed, or lies in no repository. */
  readonly brought: BroughtAddress | undefined;
}

export interface GivenAddressOptions {
  readonly scope: RepositoryScope;
  readonly claim: AddressClaim;
  readonly physicalAddress: string;
  /** Link: an address in our own data folder must carry a valid signature, whoever asks. */
  readonly signatureRequired: boolean;
  readonly rights: AddressRights;
}

/** Checks an address a client wants an entry to point to, and normalises it as stored. */
export async function acceptAddress(
  context: EngineContext,
  options: GivenAddressOptions,
): Promise<AcceptedAddress> {
  const { scope, physicalAddress, rights } = options;
  const { repository } = scope;
  const adapter = adapterOf(context, scope);
  // Most often all this is in memory: waiting for it costs more than the rest.
  const spelled = canonicalAddress(context, options);
  const canonical = spelled instanceof Promise ? await spelled : spelled;
  const ours = context.namespaces.canonicalNamespace(adapter, repository.storageNamespace);
  const namespace = ours instanceof Promise ? await ours : ours;
  const inside = liesInside(canonical, namespace) ? canonical.slice(namespace.length + 1) : undefined;
  // Stored as the rest of the address: what is spelled in another way would become another name.
  if (inside !== undefined && !physicalAddress.endsWith(`/${inside}`)) throw notValid(adapter);
  if (inside !== undefined && isMetadata(inside, repository.metadataPrefix)) {
    throw invalid(
      `physical address ${physicalAddress} is metadata of the repository, not an object`,
      'object',
    );
  }
  if (inside?.startsWith('data/') === true) {
    if (options.signatureRequired) {
      verifyAddress(context.signingKey, options.claim, inside, context.clock());
    }
    const given = { address: inside, addressType: addressRelative } as const;
    if (options.signatureRequired || isSigned(context, options.claim, inside)) {
      return { given, brought: undefined };
    }
    await checkMayRead(repository.id, rights);
    return { given, brought: { repository: repository.id, canonical } };
  }
  const allowing = checkImport(adapter, rights, physicalAddress, canonical);
  if (allowing instanceof Promise) await allowing;
  // Only data of a repository has such a name: whose it is decides who keeps it.
  const mayBeData = parseDataKey(canonical.split('/').slice(-3).join('/')) !== undefined;
  const owning = mayBeData
    ? context.namespaces.ownerNow(adapter, canonical)
    : context.namespaces.ownerOf(adapter, canonical);
  const owner = owning instanceof Promise ? await owning : owning;
  if (owner !== undefined) await checkMayRead(owner, rights);
  const looking = context.namespaces.waitingAt(adapter, canonical);
  refuseWaiting(looking instanceof Promise ? await looking : looking);
  return {
    given: { address: physicalAddress, addressType: addressFull },
    brought: owner === undefined ? undefined : { repository: owner, canonical },
  };
}

/** Refuses what is about to be deleted. */
export function refuseWaiting(waiting: string | undefined): void {
  if (waiting !== undefined) {
    throw invalid(`storage namespace ${waiting} waits for its data to be deleted`, 'namespace');
  }
}

/** Addresses are listed line by line. */
// oxlint-disable-next-line no-control-regex
const controlCharacter = /[\u0000-\u001f\u007f]/;

function canonicalAddress(
  context: EngineContext,
  { scope, physicalAddress }: GivenAddressOptions,
): string | Promise<string> {
  const adapter = adapterOf(context, scope);
  if (controlCharacter.test(physicalAddress)) throw notValid(adapter);
  const { storageNamespace } = scope.repository;
  const canonical = context.namespaces.canonicalAddress(adapter, storageNamespace, physicalAddress);
  if (typeof canonical === 'string') return canonical;
  return canonical.catch((error: unknown) => {
    if (!(error instanceof BlockError)) throw error;
    if (error.kind === 'forbidden') {
      throw new EngineError('forbidden', 'forbidden', { cause: error, subject: 'storage' });
    }
    throw notValid(adapter);
  });
}

function notValid(adapter: BlockAdapter): EngineError {
  return invalid(`physical address is not valid for block adapter: ${adapter.type}`, 'object');
}

function isMetadata(inside: string, metadataPrefix: string): boolean {
  return liesInside(inside, metadataPrefix) || liesInside(inside, '_lakefs') || liesInside(inside, '_svc');
}

function isSigned(context: EngineContext, claim: AddressClaim, relative: string): boolean {
  try {
    verifyAddress(context.signingKey, claim, relative, context.clock());
    return true;
  } catch {
    return false;
  }
}
