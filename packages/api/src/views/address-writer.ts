import type { ListedObject } from '@svc/engine';
import type { JsonWriter } from './json-writer.ts';

const slash = 0x2f;

/** Bytes that every store shows as they are: letters, digits and `_ . , = -`. */
export const plainAddressBytes = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=-'))
  plainAddressBytes[byte] = 1;

/** A folder of addresses, by its place in the page's bytes, and how the store shows it. */
export interface ShownFolder {
  readonly start: number;
  readonly end: number;
  readonly type: string;
  readonly shown: Buffer;
}

/**
 * Writes physical addresses. Neighbours in a list mostly share the folder of their address, and how a store shows
 * a folder is worked out once.
 */
export class AddressWriter {
  #bytes: Buffer = Buffer.alloc(0);
  #folder: ShownFolder | undefined;

  /** The folder of the last plain address, unless it needs thought every time. */
  get folder(): ShownFolder | undefined {
    return this.#folder;
  }

  write(json: JsonWriter, item: ListedObject): void {
    const { bytes, addressStart, addressEnd, addressType } = item;
    const nameStart = this.#nameStart(bytes, addressStart, addressEnd);
    const isPlain = nameStart < addressEnd && bytes[nameStart] !== 0x2e;
    const known = this.#folder;
    if (
      isPlain &&
      known !== undefined &&
      addressType === known.type &&
      this.#isFolder(known, bytes, addressStart, nameStart)
    ) {
      json.twoTexts(known.shown, bytes, nameStart, addressEnd);
      return;
    }
    const address = item.physicalAddress;
    json.string(address);
    if (!isPlain) return;
    const name = bytes.toString('latin1', nameStart, addressEnd);
    const folder = address.slice(0, -name.length);
    this.#bytes = bytes;
    // A folder that needs escapes is left to the ordinary way.
    const isSimple = address.endsWith(`/${name}`) && JSON.stringify(folder).length === folder.length + 2;
    this.#folder = isSimple
      ? { start: addressStart, end: nameStart, type: addressType, shown: Buffer.from(folder) }
      : undefined;
  }

  /** Where the last element begins; `end` when one of its bytes is not plain. */
  #nameStart(bytes: Buffer, start: number, end: number): number {
    for (let at = end - 1; at >= start; at--) {
      const byte = bytes[at] ?? 0;
      if (byte === slash) return at + 1;
      if (plainAddressBytes[byte] === 0) return end;
    }
    return start;
  }

  #isFolder(known: ShownFolder, bytes: Buffer, start: number, end: number): boolean {
    if (end - start !== known.end - known.start) return false;
    const shift = known.start - start;
    for (let at = start; at < end; at++) if (bytes[at] !== this.#bytes[at + shift]) return false;
    return true;
  }
}
