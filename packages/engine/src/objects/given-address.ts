import { BlockError } from '@svc/block';
import { addressFull, addressRelative, type AddressType } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { MayReadRepository } from '../face/objects.ts';
import { liesInside } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { verifyAddress, type AddressClaim } from './addresses.ts';

export interface GivenAddress {
  readonly address: string;
  readonly addressType: AddressType;
}

export interface GivenAddressOptions {
  readonly scope: RepositoryScope;
  readonly claim: AddressClaim;
  readonly physicalAddress: string;
  /** Link: an address in our own data folder must carry a valid signature, whoever asks. */
  readonly signatureRequired: boolean;
  readonly mayReadRepository: MayReadRepository | undefined;
  readonly checkImport?: ((address: string) => void | Promise<void>) | undefined;
}

/** Checks an address a client wants an entry to point to, and normalises it as stored. */
export async function acceptAddress(
  context: EngineContext,
  options: GivenAddressOptions,
): Promise<GivenAddress> {
  const { scope, physicalAddress } = options;
  const { repository } = scope;
  const adapter = adapterOf(context, scope);
  const canonical = await canonicalAddress(context, options);
  const namespace = await context.namespaces.canonicalNamespace(adapter, repository.storageNamespace);
  const inside = liesInside(canonical, namespace) ? canonical.slice(namespace.length + 1) : undefined;
  if (inside !== undefined && isMetadata(inside, repository.metadataPrefix)) {
    throw invalid(
      `physical address ${physicalAddress} is metadata of the repository, not an object`,
      'object',
    );
  }
  if (inside === undefined) await options.checkImport?.(physicalAddress);
  if (inside?.startsWith('data/') === true) {
    if (options.signatureRequired) {
      verifyAddress(context.signingKey, options.claim, inside, context.clock());
    } else if (!isSigned(context, options.claim, inside)) {
      await checkMayRead(repository.id, options.mayReadRepository);
    }
    return { address: inside, addressType: addressRelative };
  }
  const owner = await context.namespaces.ownerOf(adapter, repository.storageId, canonical);
  if (owner !== undefined) await checkMayRead(owner, options.mayReadRepository);
  return { address: physicalAddress, addressType: addressFull };
}

async function canonicalAddress(context: EngineContext, options: GivenAddressOptions): Promise<string> {
  const adapter = adapterOf(context, options.scope);
  const { storageNamespace } = options.scope.repository;
  try {
    return await context.namespaces.canonicalAddress(adapter, storageNamespace, options.physicalAddress);
  } catch (error) {
    if (!(error instanceof BlockError)) throw error;
    if (error.kind === 'forbidden') {
      throw new EngineError('forbidden', 'forbidden', { cause: error, subject: 'storage' });
    }
    throw invalid(`physical address is not valid for block adapter: ${adapter.type}`, 'object');
  }
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

/** Without this, permissions on single paths could be read around. */
async function checkMayRead(repository: string, mayRead: MayReadRepository | undefined): Promise<void> {
  if (mayRead !== undefined && (await mayRead(repository))) return;
  throw new EngineError(
    'forbidden',
    `address lies in the storage namespace of repository '${repository}': use a signed physical address, or read permission on all its objects`,
    { subject: 'object' },
  );
}
