import { maskedCrc32c, type SnappyArea, snappyDecode, SnappyError, type WorkBuffer } from '@svc/encoding';
import { CorruptTableError } from './corrupt-table-error.ts';
import { compressionNone, compressionSnappy } from './table-format.ts';

/** Two values of the greatest size and a long key fit; nothing honest is larger. */
const maxBlockLength = 128 * 1024 * 1024;

/** Compares the checksum of the block stored at `stored[start, start + length)` with its trailer behind it. */
export function checkBlock(stored: WorkBuffer, start: number, length: number): void {
  const { bytes, view } = stored;
  const end = start + length;
  if (view.getUint32(end + 1, true) !== maskedCrc32c(bytes.subarray(start, end + 1))) {
    throw checksumDiffers();
  }
}

/** Checks and decodes the block stored at `stored[start, start + length)` with its trailer behind it. */
export function decodeBlock(stored: WorkBuffer, start: number, length: number, target: WorkBuffer): number {
  const { bytes } = stored;
  const end = start + length;
  checkBlock(stored, start, length);
  const type = bytes[end];
  if (type === compressionNone) {
    target.reserve(length);
    bytes.copy(target.bytes, 0, start, end);
    return length;
  }
  if (type !== compressionSnappy) throw unknownCompression(type);
  try {
    return snappyDecode(bytes, start, end, target, maxBlockLength);
  } catch (error) {
    throw asCorrupt(error);
  }
}

/**
 * Checks and decodes the block whose `length` bytes, with their trailer behind them, are the input of `area`. Answers
 * where in it the body begins and ends.
 */
export function decodeBlockIn(area: SnappyArea, length: number): [start: number, end: number] {
  const end = area.start + length;
  if (readUint32(area.bytes, end + 1) !== area.maskedCrc32c(length + 1)) throw checksumDiffers();
  const type = area.bytes[end];
  if (type === compressionNone) return [area.start, end];
  if (type !== compressionSnappy) throw unknownCompression(type);
  try {
    const decoded = area.decode(length, maxBlockLength);
    return [area.outputStart, area.outputStart + decoded];
  } catch (error) {
    throw asCorrupt(error);
  }
}

function checksumDiffers(): CorruptTableError {
  return new CorruptTableError('the checksum of a block does not match');
}

function unknownCompression(type: number | undefined): CorruptTableError {
  return new CorruptTableError(`compression type ${type} is unknown`);
}

function asCorrupt(error: unknown): unknown {
  return error instanceof SnappyError ? new CorruptTableError(error.message, { cause: error }) : error;
}

/** Little-endian; the caller knows the bytes are there. */
export function readUint32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

/** Where the entries of the decoded block `body[start, start + length)` end and its restart offsets begin. */
export function entriesEnd(body: Buffer, start: number, length: number): number {
  if (length < 4) throw new CorruptTableError('a block is too short');
  const restarts = readUint32(body, start + length - 4);
  const end = start + length - 4 - 4 * restarts;
  if (restarts === 0 || end < start) throw new CorruptTableError("a block's restart count is impossible");
  return end;
}

/** Walks a small block of plain names (properties, metaindex, index). Values are slices of `body`. */
export function* readEntries(body: Buffer): Generator<{ key: Buffer; value: Buffer }, void> {
  const end = entriesEnd(body, 0, body.length);
  let key: Buffer = Buffer.alloc(0);
  let at = 0;
  const uvarint = (): number => {
    let value = 0;
    for (let scale = 1; scale <= 0x10000000; scale *= 0x80) {
      const byte = at < end ? (body[at++] as number) : 0x80;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new CorruptTableError('a block holds an unreadable length');
  };
  while (at < end) {
    const shared = uvarint();
    const unshared = uvarint();
    const valueLength = uvarint();
    if (shared > key.length || unshared + valueLength > end - at) {
      throw new CorruptTableError('an entry passes the end of its block');
    }
    key = Buffer.concat([key.subarray(0, shared), body.subarray(at, at + unshared)]);
    at += unshared;
    yield { key, value: body.subarray(at, at + valueLength) };
    at += valueLength;
  }
}
