import { internalTrailerLength } from './table-format.ts';

export const passesEnd = 'an entry passes the end of its block';
const unreadable = -1;

/** What an entry of a block begins with: three lengths. One object is used for all entries of a cursor. */
export class EntryHeader {
  /** Bytes of the key that are those of the key before. */
  shared = 0;
  unshared = 0;
  valueLength = 0;
  /** Where the key goes on. */
  end = 0;
  #varintEnd = 0;

  /** Reads the header at `position`; answers what is wrong with it, if anything. */
  read(block: Buffer, position: number, entriesEnd: number): string | undefined {
    let at = position;
    let shared = block[at++] as number;
    let unshared = block[at++] as number;
    let valueLength = block[at++] as number;
    if ((shared | unshared) >= 0x80) {
      shared = this.#uvarint(block, position, entriesEnd);
      unshared = this.#uvarint(block, this.#varintEnd, entriesEnd);
      valueLength = this.#uvarint(block, this.#varintEnd, entriesEnd);
      at = this.#varintEnd;
    } else if (valueLength >= 0x80) {
      const second = block[at] as number;
      if (second < 0x80) {
        valueLength = (valueLength & 0x7f) | (second << 7);
        at++;
      } else {
        valueLength = this.#uvarint(block, at - 1, entriesEnd);
        at = this.#varintEnd;
      }
    }
    this.shared = shared;
    this.unshared = unshared;
    this.valueLength = valueLength;
    this.end = at;
    if (shared === unreadable || unshared === unreadable || valueLength === unreadable)
      return 'a block holds an unreadable length';
    if (unshared + valueLength > entriesEnd - at || shared + unshared < internalTrailerLength)
      return passesEnd;
    return undefined;
  }

  #uvarint(block: Buffer, at: number, entriesEnd: number): number {
    let value = 0;
    let position = at;
    for (let scale = 1; scale <= 0x10000000; scale *= 0x80) {
      const byte = position < entriesEnd ? (block[position++] as number) : 0x80;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#varintEnd = position;
        return value;
      }
    }
    return unreadable;
  }
}
