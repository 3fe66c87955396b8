import type { CompletedPart } from './adapter.ts';
import { BlockError } from './errors.ts';

const maxParts = 10_000;

/** Refuses a bad range before any byte is read. */
export function checkRangeOrder(start: number, end: number): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start) {
    throw new BlockError('bad_index', `bad index: bytes ${start}-${end} is no range`);
  }
}

/** The last byte of the range, cut at the object's end. */
export function checkRange(start: number, end: number, size: number): number {
  checkRangeOrder(start, end);
  if (start >= size) {
    throw new BlockError(
      'bad_index',
      `bad index: bytes ${start}-${end} lie outside an object of ${size} bytes`,
    );
  }
  return Math.min(end, size - 1);
}

export function checkPartNumber(partNumber: number): void {
  if (!Number.isInteger(partNumber) || partNumber < 1 || partNumber > maxParts) {
    throw new BlockError('invalid_part', `part number ${partNumber} is not between 1 and ${maxParts}`);
  }
}

/** A list of parts to complete: not empty, numbers ascending. */
export function checkPartList(parts: readonly CompletedPart[]): void {
  if (parts.length === 0) throw new BlockError('invalid_part', 'a multipart upload needs at least one part');
  let previous = 0;
  for (const { partNumber } of parts) {
    checkPartNumber(partNumber);
    if (partNumber <= previous) {
      throw new BlockError(
        'invalid_part',
        `part ${partNumber} is listed after part ${previous}: list parts in ascending order`,
      );
    }
    previous = partNumber;
  }
}
