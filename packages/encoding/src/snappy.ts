import { SnappyArea, snappyMaxLength } from './snappy-area.ts';
import { WorkBuffer } from './work-buffer.ts';

/** Both directions are synchronous, so one serves a whole thread. */
let shared: SnappyArea | undefined;

/** Compresses `source` into a new buffer. */
export function snappyCompress(source: Uint8Array): Buffer {
  const target = Buffer.allocUnsafe(snappyMaxLength(source.length));
  return target.subarray(0, snappyEncode(source, 0, source.length, target, 0));
}

/** Decompresses a whole Snappy block. `maxLength` bounds the memory a hostile length could ask for. */
export function snappyDecompress(source: Uint8Array, maxLength = 0x7fffffff): Buffer {
  const target = new WorkBuffer(0);
  const length = snappyDecode(source, 0, source.length, target, maxLength);
  return target.bytes.subarray(0, length);
}

/**
 * Compresses `source[start, end)` to `target[at, …)`, which must have room for `snappyMaxLength` bytes, and returns
 * the position after it. The choices are exactly the reference encoder's: compressed lengths are part of range
 * sizes, and range sizes are part of tree ids.
 */
export function snappyEncode(
  source: Uint8Array,
  start: number,
  end: number,
  target: Buffer,
  at: number,
): number {
  const area = areaWith(source, start, end);
  const length = area.encode(end - start);
  area.bytes.copy(target, at, area.outputStart, area.outputStart + length);
  return at + length;
}

/** Decodes `source[start, end)` into `target` from 0 and returns the decoded length. */
export function snappyDecode(
  source: Uint8Array,
  start: number,
  end: number,
  target: WorkBuffer,
  maxLength: number,
): number {
  const area = areaWith(source, start, end);
  const length = area.decode(end - start, maxLength);
  target.reserve(length);
  area.bytes.copy(target.bytes, 0, area.outputStart, area.outputStart + length);
  return length;
}

function areaWith(source: Uint8Array, start: number, end: number): SnappyArea {
  const area = (shared ??= new SnappyArea());
  area.reserve(end - start);
  if (source instanceof Buffer) source.copy(area.bytes, area.start, start, end);
  else area.bytes.set(source.subarray(start, end), area.start);
  return area;
}
