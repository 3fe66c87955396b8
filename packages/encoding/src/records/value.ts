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

/** Parts are views of `value`; trailing bytes are ignored. */
export function decodeValue(value: Buffer): RecordValue {
  const identityLength = readLength(value, 0);
  const identityStart = lengthSize(identityLength);
  const identityEnd = identityStart + identityLength;
  const dataLength = readLength(value, identityEnd);
  const dataStart = identityEnd + lengthSize(dataLength);
  if (dataStart + dataLength > value.length) throw new WireError('record value is cut short');
  return {
    identity: value.subarray(identityStart, identityEnd),
    data: value.subarray(dataStart, dataStart + dataLength),
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

function readLength(value: Buffer, at: number): number {
  let result = 0;
  let scale = 1;
  for (let index = 0; index < 5; index += 1) {
    const byte = value[at + index];
    if (byte === undefined) throw new WireError('record value is cut short');
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
