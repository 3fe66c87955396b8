/** Protobuf wire types used by our records. */
export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
export const wireFixed32 = 5;

const noBytes: Buffer = Buffer.alloc(0);

/** Thrown when stored bytes are not a well-formed record. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** Appends protobuf fields to a growing buffer. Numbers must be safe integers. */
export class WireWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity = 256) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** The bytes written so far; the writer must not be used afterwards. */
  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  varint(value: number): void {
    if (value < 0) {
      this.#negativeVarint(value);
      return;
    }
    this.#reserve(8);
    const buffer = this.#buffer;
    let at = this.#length;
    let rest = value;
    while (rest > 0x7f) {
      buffer[at] = (rest & 0x7f) | 0x80;
      at += 1;
      rest = rest < 0x8000_0000 ? rest >>> 7 : Math.floor(rest / 128);
    }
    buffer[at] = rest;
    this.#length = at + 1;
  }

  tag(field: number, wireType: number): void {
    this.varint((field << 3) | wireType);
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  bytes(field: number, value: Uint8Array): void {
    this.tag(field, wireBytes);
    this.varint(value.length);
    this.raw(value);
  }

  string(field: number, value: string): void {
    this.tag(field, wireBytes);
    this.#text(value);
  }

  integer(field: number, value: number): void {
    if (!Number.isSafeInteger(value)) {
      throw new WireError(`cannot store ${value}: integers must lie between -(2^53-1) and 2^53-1`);
    }
    this.tag(field, wireVarint);
    this.varint(value);
  }

  /** A sub-message: `write` fills it; its length is put in front afterwards. One byte of it is enough as a rule. */
  message(field: number, write: (writer: WireWriter) => void): void {
    this.tag(field, wireBytes);
    this.#reserve(1);
    const start = this.#length;
    this.#length += 1;
    write(this);
    const size = this.#length - start - 1;
    if (size <= 0x7f) {
      this.#buffer[start] = size;
      return;
    }
    const more = varintBytes(size) - 1;
    this.#reserve(more);
    this.#buffer.copyWithin(start + 1 + more, start + 1, this.#length);
    this.#length = start;
    this.varint(size);
    this.#length += size;
  }

  #text(value: string): void {
    const units = value.length;
    // Three bytes per UTF-16 unit is the worst case, plus the length in front.
    this.#reserve(units * 3 + 5);
    const buffer = this.#buffer;
    if (units < 128) {
      const start = this.#length + 1;
      let index = 0;
      for (; index < units; index += 1) {
        const code = value.charCodeAt(index);
        if (code > 0x7f) break;
        buffer[start + index] = code;
      }
      if (index === units) {
        buffer[this.#length] = units;
        this.#length = start + units;
        return;
      }
    }
    this.varint(Buffer.byteLength(value));
    this.#length += buffer.write(value, this.#length);
  }

  #negativeVarint(value: number): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let index = 0; index < 9; index += 1) {
      this.#buffer[this.#length] = Number(rest & 0x7fn) | 0x80;
      this.#length += 1;
      rest >>= 7n;
    }
    this.#buffer[this.#length] = Number(rest);
    this.#length += 1;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) bytes += 1;
  return bytes;
}

/** Reads protobuf fields from a slice. Byte fields are views of that slice. */
export class WireReader {
  readonly #buffer: Buffer;
  #at: number;
  readonly #end: number;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#at = start;
    this.#end = end;
  }

  get position(): number {
    return this.#at;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** An unsigned varint that fits a double; larger ones are read by `integer`. */
  varint(): number {
    let value = 0;
    let scale = 1;
    for (let index = 0; index < 7; index += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    return this.#wideVarint(value);
  }

  /** An int64, int32, uint64 or enum. */
  integer(): number {
    return this.varint();
  }

  /** An int32: high bits are dropped as protobuf readers do. */
  int32(): number {
    const value = this.varint();
    // Safe integers keep their low 32 bits in a bitwise operation.
    return value | 0;
  }

  bytes(): Buffer {
    const length = this.varint();
    const start = this.#at;
    const end = start + length;
    if (length < 0 || end > this.#end) throw new WireError('record is cut short');
    this.#at = end;
    return length === 0 ? noBytes : this.#buffer.subarray(start, end);
  }

  string(): string {
    const length = this.varint();
    const start = this.#at;
    const end = start + length;
    if (length < 0 || end > this.#end) throw new WireError('record is cut short');
    this.#at = end;
    return length < 128 ? shortText(this.#buffer, start, end) : this.#buffer.toString('utf8', start, end);
  }

  skip(wireType: number): void {
    if (wireType === wireVarint) {
      while (this.#byte() >= 0x80);
    } else if (wireType === wireBytes) this.bytes();
    else if (wireType === wireFixed64) this.#advance(8);
    else if (wireType === wireFixed32) this.#advance(4);
    else throw new WireError(`unknown wire type ${wireType}`);
  }

  slice(start: number, end: number): Buffer {
    return this.#buffer.subarray(start, end);
  }

  #advance(count: number): void {
    if (this.#at + count > this.#end) throw new WireError('record is cut short');
    this.#at += count;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new WireError('record is cut short');
    const byte = this.#buffer[this.#at] ?? 0;
    this.#at += 1;
    return byte;
  }

  #wideVarint(low: number): number {
    let value = BigInt(low);
    let shift = 49n;
    for (let index = 7; index < 10; index += 1) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const signed = Number(BigInt.asIntN(64, value));
        if (!Number.isSafeInteger(signed)) throw new WireError('integer beyond 2^53 in record');
        return signed;
      }
      shift += 7n;
    }
    throw new WireError('varint longer than ten bytes');
  }
}

/** ASCII without a native call, which costs more than the text for short strings. */
function shortText(buffer: Buffer, start: number, end: number): string {
  if (end - start > 24) return buffer.toString('utf8', start, end);
  let text = '';
  for (let index = start; index < end; index += 1) {
    const code = buffer[index] ?? 0;
    if (code > 0x7f) return buffer.toString('utf8', start, end);
    text += String.fromCharCode(code);
  }
  return text;
}
