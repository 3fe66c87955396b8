/** Number of bytes of `value` (an integer of at most 53 bits) as LEB128. */
export function uvarintLength(value: number): number {
  let length = 1;
  let rest = value;
  for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) length++;
  for (let small = rest | 0; small >= 0x80; small >>>= 7) length++;
  return length;
}

/** Writes `value` (an integer of at most 53 bits) as LEB128 and returns the position after it. */
export function writeUvarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  let position = at;
  for (; rest > 0x7fffffff; rest = Math.floor(rest / 0x80)) target[position++] = (rest % 0x80) | 0x80;
  // Whole-number arithmetic from here on: it is several times faster.
  let small = rest | 0;
  for (; small >= 0x80; small >>>= 7) target[position++] = (small & 0x7f) | 0x80;
  target[position++] = small;
  return position;
}

/** Zig-zag then LEB128. */
export function writeSvarint(target: Uint8Array, at: number, value: number): number {
  return writeUvarint(target, at, value >= 0 ? value * 2 : -value * 2 - 1);
}

/** Reads variable-length integers one after the other; every read is checked against `end`. */
export class VarintReader {
  bytes: Uint8Array;
  position: number;
  end: number;

  constructor(bytes: Uint8Array, position = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.position = position;
    this.end = end;
  }

  /** NaN when the bytes end early or the number passes 53 bits. */
  uvarint(): number {
    const { bytes, end } = this;
    let value = 0;
    let scale = 1;
    let position = this.position;
    while (position < end) {
      const byte = bytes[position++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.position = position;
        return value <= Number.MAX_SAFE_INTEGER ? value : Number.NaN;
      }
      scale *= 0x80;
      if (scale > Number.MAX_SAFE_INTEGER) return Number.NaN;
    }
    return Number.NaN;
  }

  /** NaN when the bytes end early or the number passes 53 bits. */
  svarint(): number {
    const raw = this.uvarint();
    return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
  }
}
