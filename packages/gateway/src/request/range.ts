import { invalidArgument } from '../errors/invalid-argument.ts';

/** Inclusive byte positions. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads `Range` against an object of `size` bytes. Undefined: no usable range, the whole object is meant;
 * `unsatisfiable`: nothing of the object lies in it.
 */
export function parseRange(
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Number(last);
    if (length === 0 || size === 0) return 'unsatisfiable';
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && BigInt(first) > BigInt(last)) return undefined;
  if (start >= size) return 'unsatisfiable';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/** Reads `x-amz-copy-source-range`, which must be `bytes=a-b` within the source. */
export function parseCopyRange(header: string, size: number): ByteRange {
  const match = /^bytes=(\d+)-(\d+)$/.exec(header);
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || start > end)
    throw invalidArgument(
      'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the ' +
        'zero-based offsets of the first and last bytes to copy',
      'x-amz-copy-source-range',
      header,
    );
  if (end < size) return { start, end };
  throw invalidArgument(
    `Range specified is not valid for source object of size: ${size}`,
    'x-amz-copy-source-range',
    header,
  );
}
