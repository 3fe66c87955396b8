import { WireError } from './wire.ts';

/** Both parts of a table record: what decides equality, and the serialised entry. */
export interface RecordValue {
  readonly identity: Buffer;
  readonly data: Buffer;
}

/** Largest identity or data part of one record. */
export const maxValuePartBytes = 41_943_040;

/** `svarint(len identity) ‖ identity ‖ svarint(len data) ‖ data`. */
export function encodeValue(identity: Uint8Array, data: Uint8Array): Buffer {
  if (identity.length > maxValuePartBytes || data.length > maxValuePartBytes) {
    throw new WireError(`entry record exceeds ${maxValuePartBytes} bytes`);
  }
  const out = Buffer.allocUnsafe(
    lengthSize(identity.length) + identity.length + lengthSize(data.length) + data.length,
  );
  let at = writeLength(out, 0, identity.length);
  out.set(identity, at);
  at = writeLength(out, at + identity.length, data.length);
  out.set(data, at);
  return out;
}

/** Where the two parts of a stored value lie; found without making slices. */
export class ValueParts {
  identityStart = 0;
  identityEnd = 0;
  dataStart = 0;
  dataEnd = 0;

  /** Reads the value in `bytes[start, end)`; trailing bytes are ignored. */
  read(bytes: Uint8Array, start: number, end: number): void {
    this.dataStart = start;
    this.identityEnd = this.#readLength(bytes, end);
    this.identityStart = this.dataStart;
    this.identityEnd += this.identityStart;
    this.dataStart = this.identityEnd;
    const dataLength = this.#readLength(bytes, end);
    this.dataEnd = this.dataStart + dataLength;
    if (this.dataEnd > end) throw new WireError('record value is cut short');
  }

  /** Reads a length at `dataStart` and moves that behind it. */
  #readLength(bytes: Uint8Array, end: number): number {
    let result = 0;
    let scale = 1;
    for (let index = 0; index < 5; index += 1) {
      if (this.dataStart >= end) throw new WireError('record value is cut short');
      const byte = bytes[this.dataStart++] as number;
      result += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        const length = result / 2;
        if (!Number.isInteger(length) || length > maxValuePartBytes)
          throw new WireError('bad length in record value');
        return length;
      }
      scale *= 128;
    }
    throw new WireError('bad length in record value');
  }
}

/** Parts are views of `value`; trailing bytes are ignored. */
export function decodeValue(value: Buffer): RecordValue {
  const parts = new ValueParts();
  parts.read(value, 0, value.length);
  return {
    identity: value.subarray(parts.identityStart, parts.identityEnd),
    data: value.subarray(parts.dataStart, parts.dataEnd),
  };
}

function lengthSize(length: number): number {
  let size = 1;
  for (let rest = length * 2; rest > 0x7f; rest = Math.floor(rest / 128)) size += 1;
  return size;
}

function writeLength(out: Buffer, at: number, length: number): number {
  let position = at;
  let rest = length * 2;
  while (rest > 0x7f) {
    out[position] = (rest & 0x7f) | 0x80;
    position += 1;
    rest = Math.floor(rest / 128);
  }
  out[position] = rest;
  return position + 1;
}
