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
export function checkImport(
  adapter: BlockAdapter,
  rights: AddressRights,
  address: string,
  canonical: string,
): void | Promise<void> {
  const spellings = adapter.spellings(canonical);
  const isOnlyOne = spellings.every((spelling) => spelling === address);
  return isOnlyOne ? rights.checkImport?.(address) : checkEach(rights, new Set([address, ...spellings]));
}

async function checkEach(rights: AddressRights, spellings: Iterable<string>): Promise<void> {
  for (const spelling of spellings) await rights.checkImport?.(spelling);
}
