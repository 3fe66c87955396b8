import type { AddressType } from '@svc/encoding';

const slash = 0x2f;
const dot = 0x2e;

/** One for each byte that no store spells differently in a URI: a name of them can follow a folder's spelling. */
export const plainBytes = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=-')) {
  plainBytes[byte] = 1;
}

/**
 * The folder of an address, by its place in the page's bytes, and how the store shows it. Neighbours in a list mostly
 * share one, so it is worked out once; `wasm/listing.as` holds the same rule for the objects it writes.
 */
export interface ShownFolder {
  readonly start: number;
  readonly end: number;
  readonly type: AddressType;
  readonly shown: string;
  /** The same as it stands in a JSON string; undefined when it needs escapes. */
  readonly json: Buffer | undefined;
}

/** Learns how a folder is shown from the whole address of one of its names. */
export function shownFolder(
  place: Pick<ShownFolder, 'start' | 'end' | 'type'>,
  address: string,
  name: string,
): ShownFolder | undefined {
  if (!address.endsWith(`/${name}`)) return undefined;
  const shown = address.slice(0, -name.length);
  const needsEscapes = JSON.stringify(shown).length !== shown.length + 2;
  return { ...place, shown, json: needsEscapes ? undefined : Buffer.from(shown) };
}

/** Where the last element of an address starts; 0 unless all its bytes are plain and it is no step in a path. */
export function plainNameStart(bytes: Buffer, start: number, end: number): number {
  let at = end - 1;
  for (; at >= start && bytes[at] !== slash; at -= 1) {
    if (plainBytes[bytes[at] ?? 0] === 0) return 0;
  }
  const name = at + 1;
  return at < start || name === end || bytes[name] === dot ? 0 : name;
}

/** Is this the folder at [start, end) of the same bytes? */
export function isSameFolder(
  folder: ShownFolder,
  bytes: Buffer,
  type: AddressType,
  start: number,
  end: number,
): boolean {
  if (type !== folder.type || end - start !== folder.end - folder.start) return false;
  return bytes.compare(bytes, folder.start, folder.end, start, end) === 0;
}
