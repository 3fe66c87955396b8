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
export async function checkImport(rights: AddressRights, address: string, canonical: string): Promise<void> {
  await rights.checkImport?.(address);
  if (canonical !== address) await rights.checkImport?.(canonical);
}
