export interface ByteRange {
  readonly start: number;
  /** Inclusive. */
  readonly end: number;
}

/** `outside` names the size in its answer, `malformed` does not. */
export type RangeOutcome = ByteRange | 'outside' | 'malformed';

/** Reads one `bytes=` range against an object's size. Several ranges are not served. */
export function byteRangeOf(header: string, size: number): RangeOutcome {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header);
  if (match === null) return 'malformed';
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return 'malformed';
    const length = Number(last);
    if (length === 0 || size === 0) return 'outside';
    return { start: Math.max(0, size - length), end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'malformed';
  if (start >= size) return 'outside';
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
