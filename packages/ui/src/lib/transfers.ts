import type { ListedEntry } from './listing.ts';
import { baseName } from './paths.ts';

type Entry = Pick<ListedEntry, 'path' | 'path_type'>;

export interface Transfer {
  readonly entry: Entry;
  /** The new path, or of a folder the new prefix. */
  readonly to: string;
}

export interface TransferPlan {
  readonly transfers: readonly Transfer[];
  /** Why it cannot be done. */
  readonly problem: string | undefined;
}

function problemOf({ entry, to }: Transfer, samePlace: boolean): string | undefined {
  if (to === '') return 'Enter a destination';
  if (entry.path_type === 'object' && to.endsWith('/')) return 'Add a name after the folder';
  if (!samePlace) return undefined;
  if (to === entry.path) return 'It is already there';
  if (entry.path_type !== 'object' && to.startsWith(entry.path))
    return 'A folder cannot be moved into itself';
  return undefined;
}

/** Where each entry goes: one entry gets the target as its path, several go into the target folder. */
export function planTransfers(entries: readonly Entry[], target: string, samePlace: boolean): TransferPlan {
  const folder = target === '' || target.endsWith('/') ? target : `${target}/`;
  const transfers = entries.map((entry): Transfer => {
    if (entries.length > 1) return { entry, to: folder + baseName(entry.path) };
    return { entry, to: entry.path_type === 'object' ? target : folder };
  });
  const problem = transfers
    .map((transfer) => problemOf(transfer, samePlace))
    .find((text) => text !== undefined);
  return { transfers, problem };
}
