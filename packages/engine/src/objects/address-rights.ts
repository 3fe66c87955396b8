import type { BlockAdapter } from '@svc/block';
import { EngineError } from '../errors.ts';
import type { AddressRights } from '../face/objects.ts';

/** Without this, permissions on single paths could be read around. */
export async function checkMayRead(repository: string, rights: AddressRights): Promise<void> {
  if ((await rights.mayReadRepository?.(repository)) === true) return;
  throw new EngineError(
    'forbidden',
    `address lies in the storage namespace of repository '${repository}': use a signed physical address, or read permission on all its objects`,
    { subject: 'object' },
  );
}

/** Policies speak of text: an address must not pass them by being spelled in another way. */
export async function checkImport(
  adapter: BlockAdapter,
  rights: AddressRights,
  address: string,
  canonical: string,
): Promise<void> {
  for (const spelling of new Set([address, ...adapter.spellings(canonical)])) {
    await rights.checkImport?.(spelling);
  }
}
