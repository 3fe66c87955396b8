import type { ListedObject } from '@svc/engine';
import type { JsonWriter } from './json-writer.ts';

const slash = 0x2f;

/** Bytes that every store shows as they are: letters, digits and `_ . , = -`. */
const plain = new Uint8Array(256);
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,=-'))
  plain[byte] = 1;

/**
 * Writes physical addresses. Neighbours in a list mostly share the folder of their address, and how a store shows
 * a folder is worked out once.
 */
export class AddressWriter {
  #bytes: Buffer = Buffer.alloc(0);
  #folderStart = 0;
  #folderEnd = 0;
  #type = '';
  #shown: Buffer | undefined;

  write(json: JsonWriter, item: ListedObject): void {
    const { bytes, addressStart, addressEnd, addressType } = item;
    const nameStart = this.#nameStart(bytes, addressStart, addressEnd);
    const isPlain = nameStart < addressEnd && bytes[nameStart] !== 0x2e;
    if (
      isPlain &&
      this.#shown !== undefined &&
      addressType === this.#type &&
      this.#isFolder(bytes, addressStart, nameStart)
    ) {
      json.twoTexts(this.#shown, bytes, nameStart, addressEnd);
      return;
    }
    const address = item.physicalAddress;
    json.string(address);
    if (!isPlain) return;
    const name = bytes.toString('latin1', nameStart, addressEnd);
    const folder = address.slice(0, -name.length);
    this.#bytes = bytes;
    this.#folderStart = addressStart;
    this.#folderEnd = nameStart;
    this.#type = addressType;
    // A folder that needs escapes is left to the ordinary way.
    const isSimple = address.endsWith(`/${name}`) && JSON.stringify(folder).length === folder.length + 2;
    this.#shown = isSimple ? Buffer.from(folder) : undefined;
  }

  /** Where the last element begins; `end` when one of its bytes is not plain. */
  #nameStart(bytes: Buffer, start: number, end: number): number {
    for (let at = end - 1; at >= start; at--) {
      const byte = bytes[at] ?? 0;
      if (byte === slash) return at + 1;
      if (plain[byte] === 0) return end;
    }
    return start;
  }

  #isFolder(bytes: Buffer, start: number, end: number): boolean {
    if (end - start !== this.#folderEnd - this.#folderStart) return false;
    const shift = this.#folderStart - start;
    for (let at = start; at < end; at++) if (bytes[at] !== this.#bytes[at + shift]) return false;
    return true;
  }
}
