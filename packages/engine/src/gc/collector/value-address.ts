import { EntryView, ValueParts } from '@svc/encoding';

const addressTag = 10;
const sizeTag = 24;

/** Where the address of an object lies in its stored value, and its size, without a look at the rest more than needed. */
export class ValueAddress {
  start = 0;
  end = 0;
  size = 0;
  readonly #parts = new ValueParts();
  readonly #view = new EntryView();

  read(bytes: Buffer, start: number, end: number): void {
    this.#parts.read(bytes, start, end);
    const { dataStart, dataEnd } = this.#parts;
    if (this.#readPlain(bytes, dataStart, dataEnd)) return;
    const view = this.#view.load(bytes, dataStart, dataEnd);
    this.start = view.addressStart;
    this.end = view.addressEnd;
    this.size = view.size;
  }

  /** False for records with lengths that ours never have. */
  #readPlain(bytes: Buffer, from: number, end: number): boolean {
    this.start = this.end = this.size = 0;
    let at = from;
    while (at < end) {
      const tag = bytes[at++] as number;
      if (tag >= 0x80) return false;
      if ((tag & 7) === 0) {
        const first = at;
        while (at < end && (bytes[at] as number) >= 0x80) at += 1;
        at += 1;
        if (tag === sizeTag)
          for (let b = at - 1; b >= first; b -= 1)
            this.size = this.size * 128 + ((bytes[b] as number) & 0x7f);
        continue;
      }
      if ((tag & 7) !== 2) return false;
      let length = bytes[at++] as number;
      if (length >= 0x80) {
        const second = bytes[at++] as number;
        if (second >= 0x80) return false;
        length = (length & 0x7f) | (second << 7);
      }
      if (tag === addressTag) {
        this.start = at;
        this.end = at + length;
      }
      at += length;
    }
    return at === end;
  }
}
